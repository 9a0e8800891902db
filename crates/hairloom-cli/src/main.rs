//! The `hairloom` command: parses, calls the libraries, prints.

mod bench;
mod contact;
mod demo;
mod failure;
mod groom;
mod lab;
mod output;
mod progress;
mod render;
mod rest;
mod settings;
mod sim;
mod stage;
mod table;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Simulates hair: a groom and a moving body in, an animated cache and pictures out.
#[derive(Parser)]
#[command(name = "hairloom", version, max_term_width = 110, after_long_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  hairloom demo                                    a moving head of hair, with pictures
  hairloom sim scenes/head-turn.toml               a scene file to an animated cache
  hairloom render out/demo/demo.usdc -o frame.png  a picture of any groom or cache
  hairloom groom info hair.usdc                    what a groom holds and what is wrong with it
  hairloom lab                                     experiments against closed forms

Exit codes: 0 done, 1 the run failed, 2 bad input.";

#[derive(Subcommand)]
enum Command {
    Demo(demo::Arguments),
    Sim(sim::Arguments),
    Rest(rest::Arguments),
    Render(render::Arguments),
    #[command(subcommand)]
    Groom(groom::Command),
    Lab(lab::Arguments),
    Bench(bench::Arguments),
    Contact(contact::Arguments),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Sim(arguments) => sim::execute(&arguments),
        Command::Rest(arguments) => rest::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        Command::Groom(command) => groom::run(&command),
        Command::Lab(arguments) => lab::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Contact(arguments) => contact::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
