//! Numbers and the small fixed-size tuples of them: how each lies in bytes and in text.

use super::half::Half;

/// A quaternion `[x, y, z, w]`: the imaginary part first, as the binary format stores it. Text has `w` first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quat<C>(
    /// x, y, z, w.
    pub [C; 4],
);

/// One number.
pub(super) trait Component: Copy + Default + PartialEq {
    const BYTES: usize;
    fn store(self, bytes: &mut [u8]);
    fn fetch(bytes: &[u8]) -> Self;
    /// From the 8-bit integers that small vectors are packed into.
    fn from_small(value: i8) -> Self;
    fn print(self, out: &mut Vec<u8>);
    fn parse(word: &str) -> Option<Self>;
}

/// What an array holds: a number, a vector, a quaternion or a matrix.
pub(super) trait Element: Copy + Default + PartialEq {
    type Part: Component;
    /// Numbers in it.
    const COUNT: usize;
    /// Size in a file [bytes].
    const BYTES: usize = Self::COUNT * <Self::Part as Component>::BYTES;
    /// Rows of a matrix, 1 for everything else.
    const ROWS: usize = 1;
    fn store(&self, bytes: &mut [u8]);
    fn fetch(bytes: &[u8]) -> Self;
    /// Many, each from its bytes.
    fn fetch_all(elements: &mut [Self], bytes: &[u8]) {
        for (element, bytes) in elements.iter_mut().zip(bytes.chunks_exact(Self::BYTES)) {
            *element = Self::fetch(bytes);
        }
    }
    /// From the payload of a value that is small enough to be packed into its own reference.
    fn unpack(payload: u32) -> Self;
    /// The number at `index` in the order of the text format.
    fn part(&self, index: usize) -> Self::Part;
    fn set_part(&mut self, index: usize, value: Self::Part);
}

macro_rules! number {
    ($type:ty, $small:ident => $from_small:expr, $print:ident) => {
        impl Component for $type {
            const BYTES: usize = size_of::<$type>();
            #[inline]
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn fetch(bytes: &[u8]) -> Self {
                // Callers cut `bytes` to size; a wrong length reads as zero instead of a panic.
                bytes.try_into().map(Self::from_le_bytes).unwrap_or_default()
            }
            fn from_small($small: i8) -> Self {
                $from_small
            }
            fn print(self, out: &mut Vec<u8>) {
                $print!(self, out);
            }
            fn parse(word: &str) -> Option<Self> {
                word.parse().ok()
            }
        }
    };
}

macro_rules! print_integer {
    ($value:expr, $out:expr) => {
        $out.extend_from_slice(itoa::Buffer::new().format($value).as_bytes())
    };
}

macro_rules! print_real {
    ($value:expr, $out:expr) => {{
        let value = $value;
        if value.is_finite() {
            let mut buffer = zmij::Buffer::new();
            let digits = buffer.format_finite(value);
            $out.extend_from_slice(digits.strip_suffix(".0").unwrap_or(digits).as_bytes());
        } else if value.is_nan() {
            $out.extend_from_slice(b"nan");
        } else {
            $out.extend_from_slice(if value > 0.0 { b"inf" } else { b"-inf" });
        }
    }};
}

number!(u8, small => small as u8, print_integer);
number!(i32, small => i32::from(small), print_integer);
number!(u32, small => small as u32, print_integer);
number!(i64, small => i64::from(small), print_integer);
number!(u64, small => small as u64, print_integer);
number!(f32, small => f32::from(small), print_real);
number!(f64, small => f64::from(small), print_real);

impl Component for Half {
    const BYTES: usize = 2;
    #[inline]
    fn store(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.to_le_bytes());
    }
    #[inline]
    fn fetch(bytes: &[u8]) -> Self {
        Self(bytes.try_into().map(u16::from_le_bytes).unwrap_or_default())
    }
    fn from_small(value: i8) -> Self {
        Self::from_f32(f32::from(value))
    }
    fn print(self, out: &mut Vec<u8>) {
        self.to_f32().print(out);
    }
    fn parse(word: &str) -> Option<Self> {
        f32::parse(word).map(Self::from_f32)
    }
}

impl Component for bool {
    const BYTES: usize = 1;
    #[inline]
    fn store(self, bytes: &mut [u8]) {
        bytes.fill(u8::from(self));
    }
    #[inline]
    fn fetch(bytes: &[u8]) -> Self {
        bytes.iter().any(|&byte| byte != 0)
    }
    fn from_small(value: i8) -> Self {
        value != 0
    }
    fn print(self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self { b"true" } else { b"false" });
    }
    fn parse(word: &str) -> Option<Self> {
        match word {
            "1" | "true" | "True" | "yes" | "on" => Some(true),
            "0" | "false" | "False" | "no" | "off" => Some(false),
            _ => None,
        }
    }
}

/// A lone number: 64-bit kinds are packed as their 32-bit sisters.
macro_rules! scalar {
    ($type:ty, $payload:ident => $unpack:expr) => {
        impl Element for $type {
            type Part = $type;
            const COUNT: usize = 1;
            #[inline]
            fn store(&self, bytes: &mut [u8]) {
                Component::store(*self, bytes);
            }
            #[inline]
            fn fetch(bytes: &[u8]) -> Self {
                Component::fetch(bytes)
            }
            fn unpack($payload: u32) -> Self {
                $unpack
            }
            fn part(&self, _: usize) -> Self {
                *self
            }
            fn set_part(&mut self, _: usize, value: Self) {
                *self = value;
            }
        }
    };
}

scalar!(bool, payload => payload & 0xff != 0);
scalar!(u8, payload => payload as u8);
scalar!(i32, payload => payload as i32);
scalar!(u32, payload => payload);
scalar!(i64, payload => i64::from(payload as i32));
scalar!(u64, payload => u64::from(payload));
scalar!(Half, payload => Half(payload as u16));
scalar!(f32, payload => f32::from_bits(payload));
scalar!(f64, payload => f64::from(f32::from_bits(payload)));

impl<C: Component, const N: usize> Element for [C; N]
where
    [C; N]: Default,
{
    type Part = C;
    const COUNT: usize = N;
    #[inline]
    fn store(&self, bytes: &mut [u8]) {
        for (part, bytes) in self.iter().zip(bytes.chunks_exact_mut(C::BYTES)) {
            part.store(bytes);
        }
    }
    #[inline]
    fn fetch(bytes: &[u8]) -> Self {
        let mut element = Self::default();
        for (part, bytes) in element.iter_mut().zip(bytes.chunks_exact(C::BYTES)) {
            *part = C::fetch(bytes);
        }
        element
    }
    fn fetch_all(elements: &mut [Self], bytes: &[u8]) {
        // The parts lie one after the other in both: a plain copy.
        for (part, bytes) in elements.as_flattened_mut().iter_mut().zip(bytes.chunks_exact(C::BYTES)) {
            *part = C::fetch(bytes);
        }
    }
    fn unpack(payload: u32) -> Self {
        if Self::BYTES <= 4 {
            return Self::fetch(&payload.to_le_bytes()[..Self::BYTES]);
        }
        let mut element = Self::default();
        for (part, byte) in element.iter_mut().zip(payload.to_le_bytes()) {
            *part = C::from_small(byte as i8);
        }
        element
    }
    fn part(&self, index: usize) -> C {
        self.get(index).copied().unwrap_or_default()
    }
    fn set_part(&mut self, index: usize, value: C) {
        if let Some(part) = self.get_mut(index) {
            *part = value;
        }
    }
}

impl<C: Component> Element for Quat<C> {
    type Part = C;
    const COUNT: usize = 4;
    #[inline]
    fn store(&self, bytes: &mut [u8]) {
        self.0.store(bytes);
    }
    #[inline]
    fn fetch(bytes: &[u8]) -> Self {
        Self(Element::fetch(bytes))
    }
    fn unpack(payload: u32) -> Self {
        Self(Element::unpack(payload))
    }
    fn part(&self, index: usize) -> C {
        self.0.part((index + 3) % 4)
    }
    fn set_part(&mut self, index: usize, value: C) {
        self.0.set_part((index + 3) % 4, value);
    }
}

macro_rules! matrix {
    ($size:literal) => {
        impl Element for [[f64; $size]; $size] {
            type Part = f64;
            const COUNT: usize = $size * $size;
            const ROWS: usize = $size;
            fn store(&self, bytes: &mut [u8]) {
                for (part, bytes) in self.as_flattened().iter().zip(bytes.chunks_exact_mut(8)) {
                    Component::store(*part, bytes);
                }
            }
            fn fetch(bytes: &[u8]) -> Self {
                let mut matrix = Self::default();
                for (part, bytes) in matrix.as_flattened_mut().iter_mut().zip(bytes.chunks_exact(8)) {
                    *part = Component::fetch(bytes);
                }
                matrix
            }
            fn unpack(payload: u32) -> Self {
                let mut matrix = Self::default();
                for (index, byte) in payload.to_le_bytes().into_iter().enumerate().take($size) {
                    matrix[index][index] = f64::from(byte as i8);
                }
                matrix
            }
            fn part(&self, index: usize) -> f64 {
                self.as_flattened().get(index).copied().unwrap_or_default()
            }
            fn set_part(&mut self, index: usize, value: f64) {
                if let Some(part) = self.as_flattened_mut().get_mut(index) {
                    *part = value;
                }
            }
        }
    };
}

matrix!(2);
matrix!(3);
matrix!(4);
