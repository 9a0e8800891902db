//! Hair as elastic rods that meet on a grid: semi-implicit discrete elastic rods (Huang et al. 2023).

mod element;
mod pack;
mod params;
mod rods;
mod step;
#[cfg(test)]
mod tests;

pub use params::RodParams;
pub use rods::Rods;
