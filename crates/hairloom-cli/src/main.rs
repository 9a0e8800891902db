//! The `hairloom` command.
fn main() {}
