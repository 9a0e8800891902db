//! Times that hold on a noisy machine.

use std::time::Instant;

/// The shortest wall time of `runs` calls [s]: what is left once the machine's other work is out of the way.
pub(super) fn shortest(runs: usize, mut work: impl FnMut()) -> f64 {
    (0..runs)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

/// The shortest wall times [s] of two things done in turn, so that what else the machine does meets both alike; `before` is
/// called ahead of each and not counted.
pub(super) fn shortest_in_turn(
    runs: usize,
    mut before: impl FnMut(),
    mut one: impl FnMut(),
    mut other: impl FnMut(),
) -> (f64, f64) {
    (0..runs).fold((f64::INFINITY, f64::INFINITY), |(least_one, least_other), _| {
        before();
        let now_one = shortest(1, &mut one);
        before();
        (least_one.min(now_one), least_other.min(shortest(1, &mut other)))
    })
}

/// Runs `work` on a pool of `threads` threads.
pub(super) fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(work),
        // No threads to be had: the calling thread's pool does as well.
        Err(_) => work(),
    }
}

/// Lets [`peak_bytes`] count from here on; does nothing where the system cannot.
pub(super) fn forget_peak() {
    // Linux resets the peak of the resident set when 5 is written here; failing that, the peak stays the larger one.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Most memory that this process has held since [`forget_peak`] [bytes]; `None` where the system does not tell.
pub(super) fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Processor time of all threads of this process so far [s]; `None` where the system does not tell.
pub(super) fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in brackets may hold anything; user and system time are the 12th and 13th word behind it, in 1/100 s.
    let words = stat.rsplit_once(')')?.1;
    let mut times = words.split_whitespace().skip(11).take(2).map(|word| word.parse::<f64>());
    Some((times.next()?.ok()? + times.next()?.ok()?) / 100.0)
}
