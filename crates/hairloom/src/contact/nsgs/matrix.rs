use glam::{DMat3, DVec3};

use super::ProblemError;

/// A block below this part of the diagonal ones of its row and column is what rounding has left.
const ROUNDED: f64 = 1.0e-6;

/// A square matrix of 3×3 blocks, those that are not zero, row by row with rising columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BlockMatrix {
    /// Where each row's blocks begin; one more entry than rows.
    offsets: Vec<u32>,
    columns: Vec<u32>,
    blocks: Vec<DMat3>,
}

impl BlockMatrix {
    /// From (row, column, block) in any order; blocks of one place are added up.
    pub fn from_triplets(
        rows: usize,
        triplets: impl IntoIterator<Item = (usize, usize, DMat3)>,
    ) -> Result<Self, ProblemError> {
        let mut sorted: Vec<(usize, usize, DMat3)> = triplets.into_iter().collect();
        if let Some(entry) = sorted.iter().position(|&(row, column, _)| row >= rows || column >= rows) {
            let (row, column, _) = sorted[entry];
            return Err(ProblemError::BlockOutside { entry, row, column, contacts: rows });
        }
        sorted.sort_by_key(|&(row, column, _)| (row, column));
        let mut matrix = Self { offsets: vec![0], columns: vec![], blocks: vec![] };
        for (row, column, block) in sorted {
            let same_row = matrix.offsets.len() == row + 1;
            while matrix.offsets.len() < row + 1 {
                matrix.offsets.push(matrix.blocks.len() as u32);
            }
            let begun = matrix.blocks.len() > matrix.offsets[row] as usize;
            match matrix.blocks.last_mut() {
                Some(last) if same_row && begun && matrix.columns.last() == Some(&(column as u32)) => {
                    *last += block
                }
                _ => {
                    matrix.columns.push(column as u32);
                    matrix.blocks.push(block);
                }
            }
        }
        matrix.offsets.resize(rows + 1, matrix.blocks.len() as u32);
        Ok(matrix)
    }

    /// A symmetric one, from its rows from the diagonal on, whose columns rise.
    pub(super) fn from_upper(upper: &[Vec<(u32, DMat3)>]) -> Self {
        let mut counts = vec![0; upper.len()];
        for (row, blocks) in upper.iter().enumerate() {
            counts[row] += blocks.len() as u32;
            blocks.iter().filter(|(column, _)| *column as usize != row).for_each(|(column, _)| {
                counts[*column as usize] += 1;
            });
        }
        let mut offsets = vec![0];
        offsets.extend(counts.iter().scan(0, |end, count| {
            *end += count;
            Some(*end)
        }));
        let size = offsets[upper.len()] as usize;
        let (mut columns, mut blocks) = (vec![0; size], vec![DMat3::ZERO; size]);
        // Mirror images come from rows above, in their order, and stand before a row's own.
        let mut next: Vec<usize> = offsets.iter().map(|&offset| offset as usize).collect();
        let mut put = |row: usize, column: u32, block: DMat3| {
            (columns[next[row]], blocks[next[row]]) = (column, block);
            next[row] += 1;
        };
        for (row, own) in upper.iter().enumerate() {
            for &(column, block) in own {
                put(row, column, block);
                if column as usize != row {
                    put(column as usize, row as u32, block.transpose());
                }
            }
        }
        Self { offsets, columns, blocks }
    }

    /// From rows whose columns rise.
    pub(super) fn from_rows(rows: Vec<Vec<(u32, DMat3)>>) -> Self {
        let mut matrix = Self { offsets: vec![0], columns: vec![], blocks: vec![] };
        for row in rows {
            matrix.columns.extend(row.iter().map(|&(column, _)| column));
            matrix.blocks.extend(row.iter().map(|&(_, block)| block));
            matrix.offsets.push(matrix.blocks.len() as u32);
        }
        matrix
    }

    /// How many rows of blocks there are.
    pub fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// How many blocks are stored.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether no block is stored.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The blocks of a row, with their columns.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, &DMat3)> + Clone {
        let range = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        self.columns[range.clone()].iter().map(|&column| column as usize).zip(&self.blocks[range])
    }

    /// The block at a place, if it is stored.
    pub fn get(&self, row: usize, column: usize) -> Option<&DMat3> {
        let start = self.offsets[row] as usize;
        let columns = &self.columns[start..self.offsets[row + 1] as usize];
        columns.binary_search(&(column as u32)).ok().map(|place| &self.blocks[start + place])
    }

    /// The diagonal block of a row; zero if it is not stored.
    pub fn diagonal(&self, row: usize) -> DMat3 {
        self.get(row, row).copied().unwrap_or(DMat3::ZERO)
    }

    /// One row of the product with a vector.
    pub fn row_product(&self, row: usize, vector: &[DVec3]) -> DVec3 {
        self.row(row).fold(DVec3::ZERO, |sum, (column, block)| sum + *block * vector[column])
    }

    /// The largest difference between a block and its mirror image, in parts of the larger of both. Blocks that are nothing beside the
    /// diagonal ones of their row and column count as parts of those: they are what rounding has left.
    pub fn asymmetry(&self) -> f64 {
        let size =
            |block: &DMat3| block.to_cols_array().iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let own: Vec<f64> = (0..self.rows()).map(|row| size(&self.diagonal(row))).collect();
        let mut worst = 0.0_f64;
        for row in 0..self.rows() {
            for (column, block) in self.row(row) {
                let mirror = self.get(column, row).map_or(DMat3::ZERO, DMat3::transpose);
                let least = ROUNDED * (own[row] * own[column]).sqrt();
                let scale = size(block).max(size(&mirror)).max(least);
                if scale > 0.0 {
                    worst = worst.max(size(&(*block - mirror)) / scale);
                }
            }
        }
        worst
    }

    /// The mean of the matrix and its mirror image.
    pub fn symmetrised(&self) -> Self {
        let mut rows: Vec<Vec<(u32, DMat3)>> = vec![vec![]; self.rows()];
        for row in 0..self.rows() {
            for (column, block) in self.row(row) {
                rows[row].push((column as u32, 0.5 * *block));
                rows[column].push((row as u32, 0.5 * block.transpose()));
            }
        }
        Self::from_rows(rows.into_iter().map(gather).collect())
    }
}

/// Sorts a row by column and adds up what stands at one place.
pub(super) fn gather(mut row: Vec<(u32, DMat3)>) -> Vec<(u32, DMat3)> {
    row.sort_by_key(|&(column, _)| column);
    row.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    row
}
