//! Experiments and benchmarks for Hairloom: parameters, a reference, a run, a check and a plot.
