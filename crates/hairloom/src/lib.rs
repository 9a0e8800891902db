//! The engine of Hairloom: grooms, scenes, bodies and the hair solvers, without files or windows.
//!
//! Data goes one way: a [`groom::Groom`] and a [`scene::Scene`] become a [`scene::Model`] (what stays) and a
//! [`scene::State`] (what moves); a [`solve::Solver`] advances the state under a [`scene::Drive`] (what the
//! world does). All quantities are SI: metres, kilograms, seconds. The y axis points up.

pub mod body;
pub mod contact;
pub mod figure;
pub mod grid;
pub mod groom;
pub mod math;
pub mod names;
pub mod rest;
pub mod rod;
pub mod scene;
pub mod simulate;
pub mod solve;
