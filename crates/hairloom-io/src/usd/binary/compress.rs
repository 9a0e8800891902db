//! Blocks of LZ4, in the chunks that crate files wrap them in: a byte that says how many, then one bare block (0) or
//! blocks that each follow their 32-bit length.

use lz4_flex::block;

use super::super::error::{Parsed, fault};

/// The most that one block holds uncompressed [bytes].
const LARGEST_BLOCK: usize = 0x7E00_0000;
/// LZ4 cannot expand more than this.
const LARGEST_RATIO: u64 = 255;

/// The compressed form of `bytes`.
pub(in super::super) fn compress(bytes: &[u8]) -> Vec<u8> {
    if bytes.len() <= LARGEST_BLOCK {
        let mut out = vec![0; 1 + block::get_maximum_output_size(bytes.len())];
        // The buffer is as large as LZ4 can ever need, so there is nothing that could fail.
        let length = block::compress_into(bytes, &mut out[1..]).unwrap_or(0);
        out.truncate(1 + length);
        return out;
    }
    let chunks = bytes.chunks(LARGEST_BLOCK);
    let mut out = vec![chunks.len() as u8];
    for chunk in chunks {
        let compressed = block::compress(chunk);
        out.extend_from_slice(&(compressed.len() as u32).to_le_bytes());
        out.extend_from_slice(&compressed);
    }
    out
}

/// Undoes [`compress`], for at most `limit` bytes; `offset` is where `bytes` lie, for errors.
pub(in super::super) fn decompress(bytes: &[u8], limit: u64, offset: u64) -> Parsed<Vec<u8>> {
    let Some((&chunks, mut rest)) = bytes.split_first() else {
        return fault(offset, "a compressed block");
    };
    let mut out = Vec::new();
    if chunks == 0 {
        block_into(rest, limit, offset + 1, &mut out)?;
        return Ok(out);
    }
    for _ in 0..chunks {
        let at = offset + (bytes.len() - rest.len()) as u64;
        let Some((length, after)) = rest.split_first_chunk::<4>() else {
            return fault(at, "the length of a compressed chunk");
        };
        let length = u32::from_le_bytes(*length) as usize;
        let Some((chunk, after)) = after.split_at_checked(length) else {
            return fault(at, format!("{length} bytes of a compressed chunk"));
        };
        block_into(chunk, limit - out.len() as u64, at + 4, &mut out)?;
        rest = after;
    }
    Ok(out)
}

fn block_into(bytes: &[u8], limit: u64, offset: u64, out: &mut Vec<u8>) -> Parsed<()> {
    let most = limit.min(bytes.len() as u64 * LARGEST_RATIO) as usize;
    let start = out.len();
    out.resize(start + most, 0);
    match block::decompress_into(bytes, &mut out[start..]) {
        Ok(length) => {
            out.truncate(start + length);
            Ok(())
        }
        Err(error) => fault(offset, format!("an LZ4 block of at most {limit} bytes ({error})")),
    }
}
