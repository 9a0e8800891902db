fn main() {
    let n = std::env::args().nth(1).unwrap();
    println!("{}", hairloom_lab::bench::run(&n).unwrap());
}
