use std::collections::BTreeMap;

use thiserror::Error;

/// One named array of a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
    /// Indices and counts.
    U32(Vec<u32>),
    /// Large counts and raw bits.
    U64(Vec<u64>),
}

/// All that one method needs to go on bit for bit: named columns, with the method's name and the version of
/// its layout.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checkpoint {
    /// Name of the method that wrote it.
    pub method: String,
    /// Version of that method's columns.
    pub version: u32,
    /// The columns.
    pub columns: BTreeMap<String, Column>,
}

/// Why a checkpoint cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CheckpointError {
    /// It belongs to another method or another version.
    #[error("the checkpoint was written by {found}; this is {expected}: run without --resume to start again")]
    Foreign {
        /// Method and version found.
        found: String,
        /// Method and version expected.
        expected: String,
    },
    /// A column is missing, or has another type or length than this model needs.
    #[error(
        "the checkpoint's column '{column}' does not fit this scene: {problem}; run without --resume to start again"
    )]
    Column {
        /// Name of the column.
        column: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// A type that a column can hold.
pub trait ColumnValue: Copy {
    /// The values, if the column holds this type.
    fn of(column: &Column) -> Option<&[Self]>;
    /// A column of these values.
    fn column(values: Vec<Self>) -> Column;
}

macro_rules! column_value {
    ($scalar:ty, $variant:ident) => {
        impl ColumnValue for $scalar {
            fn of(column: &Column) -> Option<&[Self]> {
                match column {
                    Column::$variant(values) => Some(values),
                    _ => None,
                }
            }
            fn column(values: Vec<Self>) -> Column {
                Column::$variant(values)
            }
        }
    };
}

column_value!(f32, F32);
column_value!(f64, F64);
column_value!(u32, U32);
column_value!(u64, U64);

impl Checkpoint {
    /// Starts an empty checkpoint of a method, dropping what was there.
    pub fn begin(&mut self, method: &str, version: u32) {
        *self = Self { method: method.to_owned(), version, columns: BTreeMap::new() };
    }

    /// Adds a column.
    pub fn put<T: ColumnValue>(&mut self, name: &str, values: Vec<T>) {
        self.columns.insert(name.to_owned(), T::column(values));
    }

    /// Checks that this checkpoint was written by `method` with `version`.
    pub fn expect(&self, method: &str, version: u32) -> Result<(), CheckpointError> {
        if self.method == method && self.version == version {
            return Ok(());
        }
        Err(CheckpointError::Foreign {
            found: format!("{} version {}", self.method, self.version),
            expected: format!("{method} version {version}"),
        })
    }

    /// The column `name`, of any length.
    pub fn take_all<T: ColumnValue>(&self, name: &str) -> Result<&[T], CheckpointError> {
        let column = self.columns.get(name).ok_or_else(|| misfit(name, "it is missing".to_owned()))?;
        T::of(column).ok_or_else(|| misfit(name, "it holds another type".to_owned()))
    }

    /// The column `name`, which must have `length` values.
    pub fn take<T: ColumnValue>(&self, name: &str, length: usize) -> Result<&[T], CheckpointError> {
        let values = self.take_all(name)?;
        if values.len() != length {
            return Err(misfit(name, format!("it has {} values where {length} are needed", values.len())));
        }
        Ok(values)
    }
}

fn misfit(column: &str, problem: String) -> CheckpointError {
    CheckpointError::Column { column: column.to_owned(), problem }
}
