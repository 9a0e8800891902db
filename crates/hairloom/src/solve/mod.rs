//! The solvers and what they share.
