//! Derivatives against finite differences, closed forms, lanes against scalars, and a static cantilever.

mod cantilever;
mod case;
mod derivatives;
mod frames;
mod lanes;
mod strains;
mod strand;
