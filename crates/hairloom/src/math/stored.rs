use super::lanes::{Kernel, Lane, Row, WIDTH, dispatch};
use super::{Quaternion, Real, Vector3};

/// What a number, or several side by side, is in memory: eight floats in a [`Row`], or one float or double.
pub trait Stored: Copy + Default + Send + Sync + std::fmt::Debug + 'static {
    /// How many strands ride side by side.
    const LANES: usize;
    /// How far rounding takes a number from its value, relative to it.
    const ROUNDING: f64;
    /// The value of one lane.
    fn get(&self, lane: usize) -> f64;
    /// Sets the value of one lane.
    fn set(&mut self, lane: usize, value: f64);
    /// The same value in every lane.
    fn splat(value: f64) -> Self;
    /// Runs a computation with the widest numbers that this processor has for this kind of memory.
    fn dispatch<K: StoredKernel<Self>>(kernel: K) -> K::Output;
}

/// A [`Real`] that is kept in memory as `S`.
pub trait Loads<S>: Real {
    /// Reads a value.
    fn load_from(stored: &S) -> Self;
    /// Writes a value.
    fn store_to(self, stored: &mut S);

    /// Reads a vector.
    #[inline(always)]
    fn load_vector(stored: &[S; 3]) -> Vector3<Self> {
        Vector3::new(Self::load_from(&stored[0]), Self::load_from(&stored[1]), Self::load_from(&stored[2]))
    }

    /// Writes a vector.
    #[inline(always)]
    fn store_vector(vector: Vector3<Self>, stored: &mut [S; 3]) {
        vector.x.store_to(&mut stored[0]);
        vector.y.store_to(&mut stored[1]);
        vector.z.store_to(&mut stored[2]);
    }

    /// Reads a quaternion, its real part last.
    #[inline(always)]
    fn load_quaternion(stored: &[S; 4]) -> Quaternion<Self> {
        let [x, y, z, w] = stored;
        let imaginary = Vector3::new(Self::load_from(x), Self::load_from(y), Self::load_from(z));
        Quaternion { real: Self::load_from(w), imaginary }
    }

    /// Writes a quaternion, its real part last.
    #[inline(always)]
    fn store_quaternion(quaternion: Quaternion<Self>, stored: &mut [S; 4]) {
        quaternion.imaginary.x.store_to(&mut stored[0]);
        quaternion.imaginary.y.store_to(&mut stored[1]);
        quaternion.imaginary.z.store_to(&mut stored[2]);
        quaternion.real.store_to(&mut stored[3]);
    }
}

impl Stored for Row {
    const LANES: usize = WIDTH;
    const ROUNDING: f64 = f32::EPSILON as f64;
    #[inline(always)]
    fn get(&self, lane: usize) -> f64 {
        f64::from(self.0[lane])
    }
    #[inline(always)]
    fn set(&mut self, lane: usize, value: f64) {
        self.0[lane] = value as f32;
    }
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Row([value as f32; WIDTH])
    }
    fn dispatch<K: StoredKernel<Self>>(kernel: K) -> K::Output {
        dispatch(InLanes(kernel))
    }
}

impl<L: Lane> Loads<Row> for L {
    #[inline(always)]
    fn load_from(stored: &Row) -> Self {
        L::load(stored)
    }
    #[inline(always)]
    fn store_to(self, stored: &mut Row) {
        self.store(stored);
    }
}

macro_rules! plain_stored {
    ($scalar:ty) => {
        impl Stored for $scalar {
            const LANES: usize = 1;
            const ROUNDING: f64 = <$scalar>::EPSILON as f64;
            #[inline(always)]
            fn get(&self, _: usize) -> f64 {
                f64::from(*self)
            }
            #[inline(always)]
            fn set(&mut self, _: usize, value: f64) {
                *self = value as $scalar;
            }
            #[inline(always)]
            fn splat(value: f64) -> Self {
                value as $scalar
            }
            fn dispatch<K: StoredKernel<Self>>(kernel: K) -> K::Output {
                kernel.run::<$scalar>()
            }
        }

        impl Loads<$scalar> for $scalar {
            #[inline(always)]
            fn load_from(stored: &$scalar) -> Self {
                *stored
            }
            #[inline(always)]
            fn store_to(self, stored: &mut $scalar) {
                *stored = self;
            }
        }
    };
}

plain_stored!(f32);
plain_stored!(f64);

/// A computation over numbers kept in memory as `S`. Implementations mark `run` as `#[inline(always)]`, and so
/// everything hot that it calls.
pub trait StoredKernel<S> {
    /// What the computation returns.
    type Output;
    /// Runs it with one kind of number.
    fn run<R: Loads<S>>(self) -> Self::Output;
}

struct InLanes<K>(K);

impl<K: StoredKernel<Row>> Kernel for InLanes<K> {
    type Output = K::Output;
    #[inline(always)]
    fn run<L: Lane>(self) -> K::Output {
        self.0.run::<L>()
    }
}
