//! Eight strands side by side: lane types, and the choice of processor features at run time.
//!
//! A [`Kernel`] is written once, generic over [`Lane`]; [`dispatch`] runs it with AVX2 and FMA where the
//! processor has them, and with portable arrays elsewhere. All `unsafe` code of the engine is in this module.
//! [`DoubleRow`] holds four strands in double precision; its kernels go through [`super::Stored::dispatch`].

#[cfg(target_arch = "x86_64")]
mod avx;
#[cfg(target_arch = "x86_64")]
mod avx_double;
mod double;
mod portable;

pub use double::{DOUBLE_WIDTH, DoubleRow};
pub use portable::Portable;

use super::{Real, Vector3};

/// How many strands ride side by side.
pub const WIDTH: usize = 8;

/// One value for each of eight strands, aligned for the processor's registers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C, align(32))]
pub struct Row(pub [f32; WIDTH]);

/// One vector for each of eight strands.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C)]
pub struct Row3(pub [Row; 3]);

impl Row3 {
    /// The vector of one lane.
    #[inline(always)]
    pub fn get(&self, lane: usize) -> glam::Vec3 {
        glam::Vec3::new(self.0[0].0[lane], self.0[1].0[lane], self.0[2].0[lane])
    }

    /// Sets the vector of one lane.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, value: glam::Vec3) {
        self.0[0].0[lane] = value.x;
        self.0[1].0[lane] = value.y;
        self.0[2].0[lane] = value.z;
    }
}

/// Sends for the element at `index`, which will be needed soon, if there is one.
#[inline(always)]
pub fn prefetch<T>(column: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = column.get(index) {
        avx::send_for(element);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (column, index);
}

/// Sends for all of the element at `index`, which lies far away in memory; beyond the end for what lies there, which is often the next column.
#[inline(always)]
pub fn prefetch_whole<T>(column: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    avx::send_for_lines(column.as_ptr().wrapping_add(index));
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (column, index);
}

/// Copies as many points as both slices hold to where nobody reads them soon: past the caches, which keep what they have.
pub fn copy_past_caches(from: &[glam::Vec3], to: &mut [glam::Vec3]) {
    let count = from.len().min(to.len());
    #[cfg(target_arch = "x86_64")]
    avx::stream(&from[..count], &mut to[..count]);
    #[cfg(not(target_arch = "x86_64"))]
    to[..count].copy_from_slice(&from[..count]);
}

/// A [`Real`] of eight lanes that can be read from and written to memory.
pub trait Lane: Real {
    /// Reads eight values.
    fn load(row: &Row) -> Self;
    /// Writes eight values.
    fn store(self, row: &mut Row);
    /// Bit `k` tells whether the mask holds in lane `k`.
    fn bits(mask: Self::Mask) -> u32;
    /// Lane `k` of row `i` becomes lane `i` of row `k`.
    fn transpose(rows: [Self; WIDTH]) -> [Self; WIDTH];
    /// The first four lanes of `self`, then the first four of `other`.
    fn first_halves(self, other: Self) -> Self;
    /// The last four lanes, then the first four.
    fn swap_halves(self) -> Self;

    /// Reads eight vectors.
    #[inline(always)]
    fn load3(row: &Row3) -> Vector3<Self> {
        Vector3::new(Self::load(&row.0[0]), Self::load(&row.0[1]), Self::load(&row.0[2]))
    }

    /// Writes eight vectors.
    #[inline(always)]
    fn store3(vector: Vector3<Self>, row: &mut Row3) {
        vector.x.store(&mut row.0[0]);
        vector.y.store(&mut row.0[1]);
        vector.z.store(&mut row.0[2]);
    }
}

/// A computation over lanes. Implementations mark `run` as `#[inline(always)]`, and so everything hot that
/// it calls: only what is inlined into the entry point is compiled for the processor at hand.
pub trait Kernel {
    /// What the computation returns.
    type Output;
    /// Runs it with one kind of lane.
    fn run<L: Lane>(self) -> Self::Output;
}

/// Runs a kernel with the widest lanes that this processor has.
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if avx::available() {
        return avx::run(kernel);
    }
    kernel.run::<Portable>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation of the trait on every lane, folded into rows that two lane types must agree on.
    struct Probe<'a>(&'a Row, &'a Row);

    impl Kernel for Probe<'_> {
        type Output = ([Row; 19], u32);

        #[inline(always)]
        fn run<L: Lane>(self) -> Self::Output {
            let (a, b) = (L::load(self.0), L::load(self.1));
            let mask = a.less(b);
            let values =
                [a + b, a - b, a * b, a / b, -a, a.min(b), a.max(b), (a * a).sqrt(), L::select(mask, a, b)];
            let mut rows = [Row::default(); 19];
            let [v, w, ..] = values;
            let moved = L::transpose([v, w, v - w, v * w, w, v, w - v, v + w]);
            let moved = moved.into_iter().chain([v.first_halves(w), v.swap_halves()]);
            for (value, row) in values.into_iter().chain(moved).zip(&mut rows) {
                value.store(row);
            }
            (rows, L::bits(mask))
        }
    }

    #[test]
    fn dispatched_lanes_agree_with_portable_ones_bit_for_bit() {
        let a = Row([1.0, -2.5, 3.0e-5, 4.0e7, -0.125, 6.0, 7.5, -8.0]);
        let b = Row([2.0, -2.0, 1.0e-5, 5.0e7, 0.5, 6.0, -7.5, 8.0]);
        let (rows, bits) = dispatch(Probe(&a, &b));
        let (expected, expected_bits) = Probe(&a, &b).run::<Portable>();
        assert_eq!(rows, expected);
        assert_eq!(bits, expected_bits);
        assert_eq!(bits, 0b1001_1011, "1 < 2, -2.5 < -2, 4e7 < 5e7, -0.125 < 0.5, -8 < 8");
    }

    #[test]
    fn lanes_change_places() {
        struct Places;
        impl Kernel for Places {
            type Output = [Row; 10];
            #[inline(always)]
            fn run<L: Lane>(self) -> Self::Output {
                let mut rows = [Row::default(); 10];
                for (row, values) in rows[..8].iter_mut().enumerate() {
                    for (lane, value) in values.0.iter_mut().enumerate() {
                        *value = (10 * row + lane) as f32;
                    }
                }
                let mut loaded = [L::zero(); WIDTH];
                for (value, row) in loaded.iter_mut().zip(&rows) {
                    *value = L::load(row);
                }
                let moved = L::transpose(loaded);
                for (value, row) in moved.into_iter().zip(&mut rows) {
                    value.store(row);
                }
                loaded[1].first_halves(loaded[2]).store(&mut rows[8]);
                loaded[1].swap_halves().store(&mut rows[9]);
                rows
            }
        }
        let rows = dispatch(Places);
        for (row, values) in rows[..8].iter().enumerate() {
            assert_eq!(values.0, std::array::from_fn(|lane| (10 * lane + row) as f32));
        }
        assert_eq!(rows[8].0, [10.0, 11.0, 12.0, 13.0, 20.0, 21.0, 22.0, 23.0]);
        assert_eq!(rows[9].0, [14.0, 15.0, 16.0, 17.0, 10.0, 11.0, 12.0, 13.0]);
    }

    #[test]
    fn points_are_copied_past_the_caches_wherever_they_lie() {
        let point = |k: usize| glam::Vec3::new(k as f32, 0.5 * k as f32, -(k as f32));
        let from: Vec<glam::Vec3> = (0..200).map(point).collect();
        for (first, count) in [(0, 0), (0, 1), (1, 5), (2, 17), (3, 64), (5, 150), (7, 193)] {
            let mut to = vec![glam::Vec3::NAN; 210];
            copy_past_caches(&from[first..first + count], &mut to[first..]);
            assert_eq!(to[first..first + count], from[first..first + count]);
            assert!(to[..first].iter().chain(&to[first + count..]).all(|point| point.is_nan()));
        }
    }

    #[test]
    fn lanes_agree_with_scalars() {
        let a = Row([1.0, -2.5, 3.0e-5, 4.0e7, -0.125, 6.0, 7.5, -8.0]);
        let b = Row([2.0, -2.0, 1.0e-5, 5.0e7, 0.5, 6.0, -7.5, 8.0]);
        let (rows, _) = dispatch(Probe(&a, &b));
        for lane in 0..WIDTH {
            let (x, y) = (a.0[lane], b.0[lane]);
            let expected = [
                x + y,
                x - y,
                x * y,
                x / y,
                -x,
                Real::min(x, y),
                Real::max(x, y),
                (x * x).sqrt(),
                f32::select(x.less(y), x, y),
            ];
            for (row, value) in rows.iter().zip(expected) {
                assert_eq!(row.0[lane], value);
            }
        }
    }
}
