use glam::DVec3;
use rayon::prelude::*;

/// Anderson acceleration of a fixed-point iteration (Anderson 1965; Walker and Ni 2011): the next iterate is the mixture of
/// the last images whose residuals nearly cancel.
#[derive(Debug)]
pub(super) struct Anderson {
    depth: usize,
    /// Pairs held, and where the next one goes.
    count: usize,
    next: usize,
    /// Differences of successive images and residuals.
    images: Vec<Vec<DVec3>>,
    residuals: Vec<Vec<DVec3>>,
    /// Products of residual differences.
    gram: Vec<f64>,
    last: Option<(Vec<DVec3>, Vec<DVec3>)>,
}

/// Sums are taken over pieces of this size, in order, so that they do not hang on the number of threads.
const PIECE: usize = 2048;

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    let piece = |(a, b): (&[DVec3], &[DVec3])| {
        let mut sums = [0.0; 3];
        for (a, b) in a.iter().zip(b) {
            sums[0] += a.x * b.x;
            sums[1] += a.y * b.y;
            sums[2] += a.z * b.z;
        }
        sums[0] + sums[1] + sums[2]
    };
    if a.len() <= PIECE {
        return piece((a, b));
    }
    let sums: Vec<f64> = a.par_chunks(PIECE).zip(b.par_chunks(PIECE)).map(piece).collect();
    sums.iter().sum()
}

/// `a − b`, into a third vector.
fn difference(a: &[DVec3], b: &[DVec3], into: &mut [DVec3]) {
    let piece = |((into, a), b): ((&mut [DVec3], &[DVec3]), &[DVec3])| {
        for ((into, a), b) in into.iter_mut().zip(a).zip(b) {
            *into = *a - *b;
        }
    };
    if a.len() <= PIECE {
        piece(((into, a), b));
    } else {
        into.par_chunks_mut(PIECE).zip(a.par_chunks(PIECE)).zip(b.par_chunks(PIECE)).for_each(piece);
    }
}

/// The image less the iterate that it is of, into `into`; returns its squared length.
pub(super) fn residual(image: &[DVec3], before: &[DVec3], into: &mut [DVec3]) -> f64 {
    difference(image, before, into);
    dot(into, into)
}

impl Anderson {
    pub(super) fn new(depth: usize, length: usize) -> Self {
        Self {
            depth,
            count: 0,
            next: 0,
            images: vec![vec![DVec3::ZERO; length]; depth],
            residuals: vec![vec![DVec3::ZERO; length]; depth],
            gram: vec![0.0; depth * depth],
            last: None,
        }
    }

    /// Forgets all iterates.
    pub(super) fn restart(&mut self) {
        (self.count, self.next, self.last) = (0, 0, None);
    }

    /// The next iterate, into `next`, after an iterate with this image and this residual (image less iterate).
    pub(super) fn mix(&mut self, image: &[DVec3], residual: &[DVec3], next: &mut [DVec3]) {
        next.copy_from_slice(image);
        match &mut self.last {
            Some((last_image, last_residual)) => {
                let slot = self.next;
                self.next = (slot + 1) % self.depth;
                self.count = (self.count + 1).min(self.depth);
                difference(image, last_image, &mut self.images[slot]);
                difference(residual, last_residual, &mut self.residuals[slot]);
                last_image.copy_from_slice(image);
                last_residual.copy_from_slice(residual);
                for other in 0..self.count {
                    let product = dot(&self.residuals[slot], &self.residuals[other]);
                    self.gram[slot * self.depth + other] = product;
                    self.gram[other * self.depth + slot] = product;
                }
            }
            None => self.last = Some((image.to_vec(), residual.to_vec())),
        }
        if let Some(shares) = self.shares(residual) {
            let subtract = |start: usize, piece: &mut [DVec3]| {
                for (share, images) in shares.iter().zip(&self.images) {
                    let images = &images[start..start + piece.len()];
                    piece.iter_mut().zip(images).for_each(|(next, image)| *next -= *share * *image);
                }
            };
            if next.len() <= PIECE {
                subtract(0, next);
            } else {
                let pieces = next.par_chunks_mut(PIECE).enumerate();
                pieces.for_each(|(index, piece)| subtract(index * PIECE, piece));
            }
        }
    }

    /// The least-squares shares of the residual differences in `residual`.
    fn shares(&self, residual: &[DVec3]) -> Option<Vec<f64>> {
        // In units of each difference, so that one number can keep the system regular.
        const REGULAR: f64 = 1.0e-10;
        let count = self.count;
        let product = |i: usize, j: usize| self.gram[i * self.depth + j];
        let scale: Vec<f64> = (0..count).map(|i| 1.0 / product(i, i).max(f64::MIN_POSITIVE).sqrt()).collect();
        let mut matrix = vec![0.0; count * count];
        for i in 0..count {
            for j in 0..count {
                matrix[i * count + j] = product(i, j) * scale[i] * scale[j];
            }
            matrix[i * count + i] += REGULAR;
        }
        let mut shares: Vec<f64> = (0..count).map(|i| scale[i] * dot(&self.residuals[i], residual)).collect();
        if !crate::math::dense::cholesky(&mut matrix, count) {
            return None;
        }
        crate::math::dense::cholesky_solve(&matrix, &mut shares);
        shares.iter_mut().zip(scale).for_each(|(share, scale)| *share *= scale);
        shares.iter().all(|share| share.is_finite()).then_some(shares)
    }
}
