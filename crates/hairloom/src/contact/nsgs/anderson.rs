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
    let mut sums = [0.0; 3];
    for (a, b) in a.iter().zip(b) {
        sums[0] += a.x * b.x;
        sums[1] += a.y * b.y;
        sums[2] += a.z * b.z;
    }
    sums[0] + sums[1] + sums[2]
}

/// The image less the iterate that it is of, into `into`; returns its squared length.
pub(super) fn residual(image: &[DVec3], before: &[DVec3], into: &mut [DVec3]) -> f64 {
    let piece = |((into, image), before): ((&mut [DVec3], &[DVec3]), &[DVec3])| {
        for ((into, image), before) in into.iter_mut().zip(image).zip(before) {
            *into = *image - *before;
        }
        dot(into, into)
    };
    if image.len() <= PIECE {
        return piece(((into, image), before));
    }
    let pieces = into.par_chunks_mut(PIECE).zip(image.par_chunks(PIECE)).zip(before.par_chunks(PIECE));
    pieces.map(piece).collect::<Vec<f64>>().iter().sum()
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
        let projections = self.remember(image, residual);
        let shares = self.shares(projections).unwrap_or_default();
        let subtract = |(start, piece): (usize, &mut [DVec3])| {
            piece.copy_from_slice(&image[start..start + piece.len()]);
            for (share, images) in shares.iter().zip(&self.images) {
                let images = &images[start..start + piece.len()];
                piece.iter_mut().zip(images).for_each(|(next, image)| *next -= *share * *image);
            }
        };
        if next.len() <= PIECE {
            subtract((0, next));
        } else {
            let pieces = next.par_chunks_mut(PIECE).enumerate();
            pieces.for_each(|(index, piece)| subtract((index * PIECE, piece)));
        }
    }

    /// Keeps the differences to the last image and residual, and their products. Returns the products of all residual differences with
    /// `residual`. One pass over memory: other threads are woken once.
    fn remember(&mut self, image: &[DVec3], residual: &[DVec3]) -> Vec<f64> {
        let Some((last_image, last_residual)) = &mut self.last else {
            self.last = Some((image.to_vec(), residual.to_vec()));
            return vec![];
        };
        let slot = self.next;
        self.next = (slot + 1) % self.depth;
        self.count = (self.count + 1).min(self.depth);
        let mut images = std::mem::take(&mut self.images[slot]);
        let mut residuals = std::mem::take(&mut self.residuals[slot]);
        let others = &self.residuals[..self.count];
        let piece = |index: usize, [images, residuals, last_image, last_residual]: [&mut [DVec3]; 4]| {
            let range = index * PIECE..index * PIECE + images.len();
            let (image, residual) = (&image[range.clone()], &residual[range.clone()]);
            for k in 0..image.len() {
                images[k] = image[k] - last_image[k];
                residuals[k] = residual[k] - last_residual[k];
            }
            last_image.copy_from_slice(image);
            last_residual.copy_from_slice(residual);
            let products = |(other, vector): (usize, &Vec<DVec3>)| {
                let vector = if other == slot { &*residuals } else { &vector[range.clone()] };
                [dot(residuals, vector), dot(residual, vector)]
            };
            others.iter().enumerate().flat_map(products).collect::<Vec<f64>>()
        };
        let parts: Vec<Vec<f64>> = if image.len() <= PIECE {
            vec![piece(0, [&mut images, &mut residuals, last_image, last_residual])]
        } else {
            let changes = images.par_chunks_mut(PIECE).zip(residuals.par_chunks_mut(PIECE));
            let last = last_image.par_chunks_mut(PIECE).zip(last_residual.par_chunks_mut(PIECE));
            let pieces = changes.zip(last).enumerate();
            pieces.map(|(index, ((a, b), (c, d)))| piece(index, [a, b, c, d])).collect()
        };
        (self.images[slot], self.residuals[slot]) = (images, residuals);
        let sum = |entry: usize| parts.iter().map(|part| part[entry]).sum::<f64>();
        for other in 0..self.count {
            let product = sum(2 * other);
            self.gram[slot * self.depth + other] = product;
            self.gram[other * self.depth + slot] = product;
        }
        (0..self.count).map(|other| sum(2 * other + 1)).collect()
    }

    /// The least-squares shares of the residual differences in a residual, from its products with them.
    fn shares(&self, mut shares: Vec<f64>) -> Option<Vec<f64>> {
        // In units of each difference, so that one number can keep the system regular.
        const REGULAR: f64 = 1.0e-10;
        let count = shares.len();
        let product = |i: usize, j: usize| self.gram[i * self.depth + j];
        let scale: Vec<f64> = (0..count).map(|i| 1.0 / product(i, i).max(f64::MIN_POSITIVE).sqrt()).collect();
        let mut matrix = vec![0.0; count * count];
        for i in 0..count {
            for j in 0..count {
                matrix[i * count + j] = product(i, j) * scale[i] * scale[j];
            }
            matrix[i * count + i] += REGULAR;
        }
        shares.iter_mut().zip(&scale).for_each(|(share, scale)| *share *= scale);
        if !crate::math::dense::cholesky(&mut matrix, count) {
            return None;
        }
        crate::math::dense::cholesky_solve(&matrix, &mut shares);
        shares.iter_mut().zip(scale).for_each(|(share, scale)| *share *= scale);
        shares.iter().all(|share| share.is_finite()).then_some(shares)
    }
}
