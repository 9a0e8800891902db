//! Tests of the built command, from outside.

mod bad_input;
mod common;
mod grooms_and_labs;
mod simulations;
