//! Checkpoint files: all that a run needs to go on bit for bit.
//!
//! | bytes | content (little-endian) |
//! |---|---|
//! | 8 | `HLCHECK` and a zero |
//! | 4 | version of the format, u32: 2 |
//! | 8 | fingerprint of the run, u64 |
//! | 4 + n | what the run has told so far, JSON: length u32, UTF-8 |
//! | 4 + n | the method's name: length u32, UTF-8 |
//! | 4 | version of the method's columns, u32 |
//! | 4 | number of columns, u32 |
//! | … | each column: name (length u32, UTF-8), type u8 (0 f32, 1 f64, 2 u32, 3 u64), count u64, values |
//! | 8 | FNV-1a of all before, u64 |

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use hairloom::solve::{Checkpoint, Column};

use crate::fingerprint::Fingerprint;

const MAGIC: [u8; 8] = *b"HLCHECK\0";
const VERSION: u32 = 2;

/// A run that can go on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SavedRun {
    /// The fingerprint of all that the run hangs on.
    pub fingerprint: u64,
    /// What the run has told so far, in JSON.
    pub report: String,
    /// The simulation.
    pub state: Checkpoint,
}

/// Why a checkpoint file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct CheckpointFileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: CheckpointProblem,
}

/// What can be wrong with a checkpoint file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointProblem {
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error("not a checkpoint of Hairloom")]
    Magic,
    /// Another version of Hairloom wrote it.
    #[error(
        "its format has version {found}, and this program reads version {VERSION}; run without --resume to start again"
    )]
    Version {
        /// The version found.
        found: u32,
    },
    /// The bytes are not those that were written.
    #[error("the checkpoint is damaged or cut off; run without --resume to start again")]
    Damaged,
}

/// Writes a checkpoint. The file appears complete or not at all.
pub fn write(path: impl AsRef<Path>, run: &SavedRun) -> Result<(), CheckpointFileError> {
    let path = path.as_ref();
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    let written = || -> io::Result<()> {
        let mut out = Summed { out: BufWriter::new(File::create(&temporary)?), sum: Fingerprint::new() };
        write_to(&mut out, run)?;
        let sum = out.sum.value();
        out.out.write_all(&sum.to_le_bytes())?;
        out.out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()?;
        fs::rename(&temporary, path)
    };
    written().map_err(|error| CheckpointFileError { path: path.to_owned(), problem: error.into() })
}

/// Reads a checkpoint.
pub fn read(path: impl AsRef<Path>) -> Result<SavedRun, CheckpointFileError> {
    let path = path.as_ref();
    let read = || parse(&fs::read(path)?);
    read().map_err(|problem| CheckpointFileError { path: path.to_owned(), problem })
}

/// Writes and sums up what is written.
struct Summed {
    out: BufWriter<File>,
    sum: Fingerprint,
}

impl Summed {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.add(bytes);
        self.out.write_all(bytes)
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        let length = u32::try_from(text.len()).map_err(io::Error::other)?;
        self.put(&length.to_le_bytes())?;
        self.put(text.as_bytes())
    }
}

fn write_to(out: &mut Summed, run: &SavedRun) -> io::Result<()> {
    let checkpoint = &run.state;
    out.put(&MAGIC)?;
    out.put(&VERSION.to_le_bytes())?;
    out.put(&run.fingerprint.to_le_bytes())?;
    out.text(&run.report)?;
    out.text(&checkpoint.method)?;
    out.put(&checkpoint.version.to_le_bytes())?;
    out.put(&(checkpoint.columns.len() as u32).to_le_bytes())?;
    macro_rules! column {
        ($code:literal, $values:expr) => {{
            out.put(&[$code])?;
            out.put(&($values.len() as u64).to_le_bytes())?;
            for value in $values {
                out.put(&value.to_le_bytes())?;
            }
        }};
    }
    for (name, column) in &checkpoint.columns {
        out.text(name)?;
        match column {
            Column::F32(values) => column!(0, values),
            Column::F64(values) => column!(1, values),
            Column::U32(values) => column!(2, values),
            Column::U64(values) => column!(3, values),
        }
    }
    Ok(())
}

/// What is left to read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], CheckpointProblem> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(CheckpointProblem::Damaged)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CheckpointProblem> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(CheckpointProblem::Damaged)?;
        self.0 = rest;
        Ok(*bytes)
    }

    fn u32(&mut self) -> Result<u32, CheckpointProblem> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, CheckpointProblem> {
        self.array().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Result<String, CheckpointProblem> {
        let length = self.u32()? as usize;
        let bytes = self.bytes(length)?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| CheckpointProblem::Damaged)
    }

    /// Values of `N` bytes, as many as a count before them says; memory is taken only for bytes that are there.
    fn values<T, const N: usize>(&mut self, convert: fn([u8; N]) -> T) -> Result<Vec<T>, CheckpointProblem> {
        let count = usize::try_from(self.u64()?).map_err(|_| CheckpointProblem::Damaged)?;
        let bytes = self.bytes(count.checked_mul(N).ok_or(CheckpointProblem::Damaged)?)?;
        Ok(bytes.as_chunks::<N>().0.iter().map(|chunk| convert(*chunk)).collect())
    }
}

fn parse(bytes: &[u8]) -> Result<SavedRun, CheckpointProblem> {
    if !bytes.starts_with(&MAGIC) {
        return Err(CheckpointProblem::Magic);
    }
    let (content, sum) = bytes.split_last_chunk().ok_or(CheckpointProblem::Damaged)?;
    let mut rest = Rest(content);
    rest.bytes(MAGIC.len())?;
    let found = rest.u32()?;
    if found != VERSION {
        return Err(CheckpointProblem::Version { found });
    }
    let mut expected = Fingerprint::new();
    expected.add(content);
    if expected.value() != u64::from_le_bytes(*sum) {
        return Err(CheckpointProblem::Damaged);
    }
    let (fingerprint, report) = (rest.u64()?, rest.text()?);
    let mut state = Checkpoint::default();
    state.begin(&rest.text()?, rest.u32()?);
    for _ in 0..rest.u32()? {
        let name = rest.text()?;
        let [code] = rest.array()?;
        let column = match code {
            0 => Column::F32(rest.values(f32::from_le_bytes)?),
            1 => Column::F64(rest.values(f64::from_le_bytes)?),
            2 => Column::U32(rest.values(u32::from_le_bytes)?),
            3 => Column::U64(rest.values(u64::from_le_bytes)?),
            _ => return Err(CheckpointProblem::Damaged),
        };
        state.columns.insert(name, column);
    }
    if rest.0.is_empty() {
        Ok(SavedRun { fingerprint, report, state })
    } else {
        Err(CheckpointProblem::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_comes_back() {
        let mut checkpoint = Checkpoint::default();
        checkpoint.begin("method ä", 7);
        checkpoint.put("singles", vec![0.1_f32, -0.0, f32::from_bits(0x7fc0_1234), f32::MIN_POSITIVE]);
        checkpoint.put("doubles", vec![0.1_f64, f64::NEG_INFINITY]);
        checkpoint.put("counts", vec![u32::MAX, 0]);
        checkpoint.put("bits", vec![u64::MAX]);
        checkpoint.put("nothing", Vec::<u32>::new());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        let run = SavedRun { fingerprint: 42, report: "{\"ä\": 1}".to_owned(), state: checkpoint };
        write(&path, &run).unwrap();
        let read = read(&path).unwrap();
        // As text: NaN is not equal to itself.
        assert_eq!(format!("{read:?}"), format!("{run:?}"));
        let bits = |run: &SavedRun| -> Vec<u32> {
            run.state.take::<f32>("singles", 4).unwrap().iter().map(|value| value.to_bits()).collect()
        };
        assert_eq!(bits(&read), bits(&run));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
    }

    #[test]
    fn counts_that_lie_take_no_memory() {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend([0; 12]);
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        bytes.push(1);
        bytes.extend((u64::MAX / 8).to_le_bytes());
        let mut sum = Fingerprint::new();
        sum.add(&bytes);
        bytes.extend(sum.value().to_le_bytes());
        assert!(matches!(parse(&bytes), Err(CheckpointProblem::Damaged)));
        bytes[8] = 1;
        assert!(matches!(parse(&bytes), Err(CheckpointProblem::Version { found: 1 })));
    }
}
