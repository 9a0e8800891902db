//! Tests of the built command, from outside.

mod bad_input;
mod common;
mod contact;
mod grooms_and_labs;
mod rest;
mod simulations;
