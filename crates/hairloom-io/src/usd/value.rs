//! The values that fields and samples hold.

use std::sync::Arc;

use glam::Vec3;

use super::element::Quat;
use super::half::Half;
use super::path::Path;

/// A short text that files store once, however often it is used.
pub type Token = Arc<str>;

/// What a prim spec does: introduce, override, or serve as a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specifier {
    /// `def`: the prim exists.
    Def,
    /// `over`: opinions on a prim that another layer may define.
    Over,
    /// `class`: to be inherited from.
    Class,
}

/// A list, or edits to the list that weaker layers give.
#[derive(Clone, Debug, PartialEq)]
pub struct ListOp<T> {
    /// The whole list, if this opinion replaces what is weaker.
    pub explicit: Option<Vec<T>>,
    /// Items added at the end unless present (an old form of `append`).
    pub added: Vec<T>,
    /// Items put in front.
    pub prepended: Vec<T>,
    /// Items put at the end.
    pub appended: Vec<T>,
    /// Items taken out.
    pub deleted: Vec<T>,
    /// Items in the order they shall have.
    pub ordered: Vec<T>,
}

impl<T> Default for ListOp<T> {
    fn default() -> Self {
        Self {
            explicit: None,
            added: Vec::new(),
            prepended: Vec::new(),
            appended: Vec::new(),
            deleted: Vec::new(),
            ordered: Vec::new(),
        }
    }
}

impl<T> ListOp<T> {
    /// A list that replaces every weaker one.
    pub fn explicit(items: Vec<T>) -> Self {
        Self { explicit: Some(items), ..Self::default() }
    }

    /// Items put in front of what is weaker.
    pub fn prepended(items: Vec<T>) -> Self {
        Self { prepended: items, ..Self::default() }
    }

    /// The items that this list has when nothing weaker exists.
    pub fn items(&self) -> impl Iterator<Item = &T> {
        let edits = [&self.prepended, &self.added, &self.appended];
        self.explicit.iter().flatten().chain(edits.into_iter().flatten().filter(|_| self.explicit.is_none()))
    }
}

/// How times of one layer are placed in another: the times there are `scale` times those here, plus `offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerOffset {
    /// [time codes]
    pub offset: f64,
    /// Time codes there for each one here.
    pub scale: f64,
}

impl LayerOffset {
    /// Times stay what they are.
    pub const NONE: Self = Self { offset: 0.0, scale: 1.0 };

    /// The time there, of a time here [time codes].
    pub fn apply(&self, time: f64) -> f64 {
        self.scale * time + self.offset
    }

    /// This, if it can be worked with; what is wrong otherwise.
    pub(super) fn checked(self) -> Result<Self, String> {
        let Self { offset, scale } = self;
        let (least, most) = (1e-6, 1e6);
        match offset.is_finite() && (least..=most).contains(&scale) {
            true => Ok(self),
            false => Err(format!(
                "times are placed by offset {offset} and scale {scale}; expected a scale from {least} to {most}"
            )),
        }
    }

    /// First `inner`, then this one.
    pub(super) fn after(&self, inner: &Self) -> Self {
        Self { offset: self.apply(inner.offset), scale: self.scale * inner.scale }
    }
}

/// Where a reference or a payload brings in a prim from.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The path of the file as it is written; empty for the layer itself.
    pub asset: Arc<str>,
    /// The prim there; empty for the one that its layer names as `defaultPrim`.
    pub prim: Path,
    /// How times are placed.
    pub offset: LayerOffset,
}

/// What is to be written: a value, or numbers that lie elsewhere and are taken from there.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// Any value.
    Value(&'a Value),
    /// An array of vectors of three 32-bit numbers.
    Triples(&'a [Vec3]),
    /// An array of 32-bit numbers.
    Floats(&'a [f32]),
}

impl<'a> From<&'a Value> for Given<'a> {
    fn from(value: &'a Value) -> Self {
        Self::Value(value)
    }
}

impl<'a> From<&'a [Vec3]> for Given<'a> {
    fn from(vectors: &'a [Vec3]) -> Self {
        Self::Triples(vectors)
    }
}

impl<'a> From<&'a [f32]> for Given<'a> {
    fn from(numbers: &'a [f32]) -> Self {
        Self::Floats(numbers)
    }
}

impl Given<'_> {
    /// The kind of what is given, and whether it is an array; nothing for what no attribute holds.
    pub(super) fn kind(&self) -> Option<(Kind, bool)> {
        match self {
            Self::Value(value) => value.kind(),
            Self::Triples(_) => Some((Kind::Vec3f, true)),
            Self::Floats(_) => Some((Kind::Float, true)),
        }
    }

    /// The same as a value of its own.
    pub(super) fn to_value(self) -> Value {
        match self {
            Self::Value(value) => value.clone(),
            Self::Triples(vectors) => Value::Vec3fArray(vectors.iter().map(|v| v.to_array()).collect()),
            Self::Floats(numbers) => Value::FloatArray(numbers.to_vec()),
        }
    }
}

/// Calls a macro with every kind of number: scalar variant, array variant, element type, code in binary files, and
/// what it is.
macro_rules! numeric_kinds {
    ($callback:ident) => {
        $callback! {
            Bool, BoolArray, bool, 1, "true or false";
            UChar, UCharArray, u8, 2, "8-bit unsigned integer";
            Int, IntArray, i32, 3, "32-bit integer";
            UInt, UIntArray, u32, 4, "32-bit unsigned integer";
            Int64, Int64Array, i64, 5, "64-bit integer";
            UInt64, UInt64Array, u64, 6, "64-bit unsigned integer";
            Half, HalfArray, Half, 7, "16-bit number";
            Float, FloatArray, f32, 8, "32-bit number";
            Double, DoubleArray, f64, 9, "64-bit number";
            Matrix2d, Matrix2dArray, [[f64; 2]; 2], 13, "2×2 matrix, rows";
            Matrix3d, Matrix3dArray, [[f64; 3]; 3], 14, "3×3 matrix, rows";
            Matrix4d, Matrix4dArray, [[f64; 4]; 4], 15, "4×4 matrix, rows; translation in the last row";
            Quatd, QuatdArray, Quat<f64>, 16, "quaternion of 64-bit numbers";
            Quatf, QuatfArray, Quat<f32>, 17, "quaternion of 32-bit numbers";
            Quath, QuathArray, Quat<Half>, 18, "quaternion of 16-bit numbers";
            Vec2d, Vec2dArray, [f64; 2], 19, "pair of 64-bit numbers";
            Vec2f, Vec2fArray, [f32; 2], 20, "pair of 32-bit numbers";
            Vec2h, Vec2hArray, [Half; 2], 21, "pair of 16-bit numbers";
            Vec2i, Vec2iArray, [i32; 2], 22, "pair of integers";
            Vec3d, Vec3dArray, [f64; 3], 23, "triple of 64-bit numbers";
            Vec3f, Vec3fArray, [f32; 3], 24, "triple of 32-bit numbers";
            Vec3h, Vec3hArray, [Half; 3], 25, "triple of 16-bit numbers";
            Vec3i, Vec3iArray, [i32; 3], 26, "triple of integers";
            Vec4d, Vec4dArray, [f64; 4], 27, "four 64-bit numbers";
            Vec4f, Vec4fArray, [f32; 4], 28, "four 32-bit numbers";
            Vec4h, Vec4hArray, [Half; 4], 29, "four 16-bit numbers";
            Vec4i, Vec4iArray, [i32; 4], 30, "four integers";
            TimeCode, TimeCodeArray, f64, 56, "time that scales with the layer [time codes]";
        }
    };
}
pub(super) use numeric_kinds;

macro_rules! define_value {
    ($($scalar:ident, $array:ident, $type:ty, $code:literal, $doc:literal;)*) => {
        /// A value of a field or of a time sample.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Value {
            $(#[doc = concat!("A ", $doc, ".")] $scalar($type),)*
            $(#[doc = concat!("An array, each element: ", $doc, ".")] $array(Vec<$type>),)*
            /// A text.
            String(Arc<str>),
            /// A name.
            Token(Token),
            /// The path of another file.
            Asset(Arc<str>),
            /// Texts.
            StringArray(Vec<Arc<str>>),
            /// Names.
            TokenArray(Vec<Token>),
            /// Paths of other files.
            AssetArray(Vec<Arc<str>>),
            /// Edits to a list of names, such as applied schemas.
            TokenListOp(ListOp<Token>),
            /// Edits to a list of texts.
            StringListOp(ListOp<Arc<str>>),
            /// Edits to a list of paths, such as the targets of a relationship.
            PathListOp(ListOp<Path>),
            /// Edits to a list of integers, whatever their width in the file.
            IntListOp(ListOp<i64>),
            /// Edits to a list of references or payloads.
            References(ListOp<Reference>),
            /// How the times of the sublayers are placed, one for each.
            LayerOffsets(Vec<LayerOffset>),
            /// Named values, in the order of the file.
            Dictionary(Vec<(Token, Value)>),
            /// What a prim spec does.
            Specifier(Specifier),
            /// Whether an attribute may have time samples: `true` for uniform, it may not.
            Uniform(bool),
            /// No value, on purpose: it hides weaker ones.
            Block,
            /// Something of a kind that this library steps over: the name of the kind.
            Unsupported(&'static str),
        }

        /// The kinds of values that attributes have, without regard to role or array.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Kind {
            $($scalar = $code,)*
            String = 10,
            Token = 11,
            Asset = 12,
        }

        impl Value {
            /// The kind, and whether it is an array; nothing for what no attribute holds.
            pub(super) fn kind(&self) -> Option<(Kind, bool)> {
                Some(match self {
                    $(Self::$scalar(_) => (Kind::$scalar, false),)*
                    $(Self::$array(_) => (Kind::$scalar, true),)*
                    Self::String(_) => (Kind::String, false),
                    Self::Token(_) => (Kind::Token, false),
                    Self::Asset(_) => (Kind::Asset, false),
                    Self::StringArray(_) => (Kind::String, true),
                    Self::TokenArray(_) => (Kind::Token, true),
                    Self::AssetArray(_) => (Kind::Asset, true),
                    _ => return None,
                })
            }

            /// Number of elements of an array, 1 for anything else.
            pub fn element_count(&self) -> usize {
                match self {
                    $(Self::$array(values) => values.len(),)*
                    Self::StringArray(values) | Self::TokenArray(values) | Self::AssetArray(values) => {
                        values.len()
                    }
                    _ => 1,
                }
            }
        }

        impl Kind {
            /// The kind with this code in binary files.
            pub(super) fn from_code(code: u8) -> Option<Self> {
                Some(match code {
                    $($code => Self::$scalar,)*
                    10 => Self::String,
                    11 => Self::Token,
                    12 => Self::Asset,
                    _ => return None,
                })
            }
        }
    };
}
numeric_kinds!(define_value);

impl Value {
    /// A name, from text.
    pub fn token(text: &str) -> Self {
        Self::Token(text.into())
    }

    /// A text.
    pub fn string(text: &str) -> Self {
        Self::String(text.into())
    }

    /// An array of names.
    pub fn tokens<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self::TokenArray(texts.into_iter().map(Into::into).collect())
    }

    /// The text of a string, a name or an asset path.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) | Self::Token(text) | Self::Asset(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a lone number of any width.
    pub fn as_f64(&self) -> Option<f64> {
        Some(match *self {
            Self::UChar(value) => f64::from(value),
            Self::Int(value) => f64::from(value),
            Self::UInt(value) => f64::from(value),
            Self::Int64(value) => value as f64,
            Self::UInt64(value) => value as f64,
            Self::Half(value) => f64::from(value.to_f32()),
            Self::Float(value) => f64::from(value),
            Self::Double(value) | Self::TimeCode(value) => value,
            _ => return None,
        })
    }

    /// The value of a lone integer of any width.
    pub fn as_i64(&self) -> Option<i64> {
        Some(match *self {
            Self::Bool(value) => i64::from(value),
            Self::UChar(value) => i64::from(value),
            Self::Int(value) => i64::from(value),
            Self::UInt(value) => i64::from(value),
            Self::Int64(value) => value,
            Self::UInt64(value) => i64::try_from(value).ok()?,
            _ => return None,
        })
    }

    /// The same as [`Self::to_vec3f_array`], without a copy where none is needed.
    pub fn into_vec3f_array(self) -> Option<Vec<[f32; 3]>> {
        match self {
            Self::Vec3fArray(values) => Some(values),
            other => other.to_vec3f_array(),
        }
    }

    /// Triples of 32-bit numbers from a triple array of any float width.
    pub fn to_vec3f_array(&self) -> Option<Vec<[f32; 3]>> {
        Some(match self {
            Self::Vec3fArray(values) => values.clone(),
            Self::Vec3dArray(values) => values.iter().map(|value| value.map(|part| part as f32)).collect(),
            Self::Vec3hArray(values) => values.iter().map(|value| value.map(Half::to_f32)).collect(),
            _ => return None,
        })
    }
}
