use super::bend::Bending;
use super::frame::Edge;
use crate::math::{Real, Vector3};

/// First derivatives with respect to two adjacent edges and their twists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairGradient<R> {
    /// First edge [N] and its twist [N m].
    pub a: [R; 4],
    /// Second edge [N] and its twist [N m].
    pub b: [R; 4],
}

/// Second derivatives with respect to two adjacent edges and their twists, in blocks of (edge, twist). The block
/// of rows b and columns a is the transpose of `ab`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairHessian<R> {
    /// First edge with itself, symmetric.
    pub aa: [[R; 4]; 4],
    /// Rows of the first edge, columns of the second.
    pub ab: [[R; 4]; 4],
    /// Second edge with itself, symmetric.
    pub bb: [[R; 4]; 4],
}

/// First and second derivatives with respect to the two twists alone [N m].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwistDerivatives<R> {
    /// Gradient: first twist, second twist.
    pub gradient: [R; 2],
    /// Hessian: aa, ab, bb.
    pub hessian: [R; 3],
}

// Everything here follows from how an edge of tangent t and length l turns to first order when it moves by δe and
// is twisted by δθ: by the rotation vector ψ = t × δe / l + δθ t. The bend sees w = ψ_b − ψ_a.

impl<R: Real> Bending<R> {
    /// The gradient in edges and twists.
    #[inline(always)]
    pub fn gradient(&self, a: Edge<R>, b: Edge<R>) -> PairGradient<R> {
        PairGradient { a: pull_back(-self.torque, a), b: pull_back(self.torque, b) }
    }

    /// The Hessian in edges and twists, to go with [`super::Bend::gauss_newton`]: positive semi-definite.
    #[inline(always)]
    pub fn gauss_newton_hessian(&self, a: Edge<R>, b: Edge<R>) -> PairHessian<R> {
        let rows = self.stiffness.rows();
        let (columns_a, columns_b) = (push_forward(rows, a), push_forward(rows, b));
        PairHessian {
            aa: columns_times(columns_a, a, R::one()),
            ab: columns_times(columns_b, a, -R::one()),
            bb: columns_times(columns_b, b, R::one()),
        }
    }

    /// The exact Hessian in edges and twists, to go with [`super::Bend::exact`].
    ///
    /// To second order an edge turns by `ψ − (t·δe)(t × δe)/l² + δθ δe⊥ / (2l)`, and two rotations compose to
    /// `w = ψ_b − ψ_a − ½ ψ_a × ψ_b`: the torque acts on these terms.
    #[inline(always)]
    pub fn exact_hessian(&self, a: Edge<R>, b: Edge<R>) -> PairHessian<R> {
        let [x, y, z] = self.stiffness.rows();
        let half = self.torque * R::splat(0.5);
        // Stiffness less half the cross product matrix of the torque.
        let skewed = [
            Vector3::new(x.x, x.y + half.z, x.z - half.y),
            Vector3::new(y.x - half.z, y.y, y.z + half.x),
            Vector3::new(z.x + half.y, z.y - half.x, z.z),
        ];
        let mut hessian = PairHessian {
            aa: columns_times(push_forward([x, y, z], a), a, R::one()),
            ab: columns_times(push_forward(skewed, b), a, -R::one()),
            bb: columns_times(push_forward([x, y, z], b), b, R::one()),
        };
        add_second_order(&mut hessian.aa, -self.torque, a);
        add_second_order(&mut hessian.bb, self.torque, b);
        hessian
    }

    /// Derivatives in the twists alone, to go with [`super::Bend::gauss_newton`]. The Hessian of a strand is
    /// tridiagonal and positive semi-definite.
    #[inline(always)]
    pub fn gauss_newton_twists(&self, a: Edge<R>, b: Edge<R>) -> TwistDerivatives<R> {
        let (column_a, column_b) = (self.stiffness.apply(a.tangent), self.stiffness.apply(b.tangent));
        TwistDerivatives {
            gradient: [-self.torque.dot(a.tangent), self.torque.dot(b.tangent)],
            hessian: [column_a.dot(a.tangent), -column_b.dot(a.tangent), column_b.dot(b.tangent)],
        }
    }

    /// Exact derivatives in the twists alone, to go with [`super::Bend::exact`].
    #[inline(always)]
    pub fn exact_twists(&self, a: Edge<R>, b: Edge<R>) -> TwistDerivatives<R> {
        let mut twists = self.gauss_newton_twists(a, b);
        twists.hessian[1] += self.torque.cross(b.tangent).dot(a.tangent) * R::splat(0.5);
        twists
    }
}

/// The derivative in (edge, twist) of a function of the edge's rotation vector with this gradient.
#[inline(always)]
fn pull_back<R: Real>(gradient: Vector3<R>, edge: Edge<R>) -> [R; 4] {
    let [x, y, z] = (gradient.cross(edge.tangent) * edge.inverse_length).to_array();
    [x, y, z, gradient.dot(edge.tangent)]
}

/// The matrix of these rows times the map from (edge, twist) to the rotation vector, as four columns.
#[inline(always)]
fn push_forward<R: Real>(rows: [Vector3<R>; 3], edge: Edge<R>) -> [Vector3<R>; 4] {
    let [first, second, third] = rows.map(|row| pull_back(row, edge));
    std::array::from_fn(|column| Vector3::new(first[column], second[column], third[column]))
}

/// `factor` times the transposed map from (edge, twist) to the rotation vector times these columns.
#[inline(always)]
fn columns_times<R: Real>(columns: [Vector3<R>; 4], edge: Edge<R>, factor: R) -> [[R; 4]; 4] {
    let columns = columns.map(|column| pull_back(column * factor, edge));
    std::array::from_fn(|row| std::array::from_fn(|column| columns[column][row]))
}

/// Adds the second derivative of `torque` times the second-order rotation of an edge.
#[inline(always)]
fn add_second_order<R: Real>(block: &mut [[R; 4]; 4], torque: Vector3<R>, edge: Edge<R>) {
    let tangent = edge.tangent;
    let moved = (torque.cross(tangent) * (-edge.inverse_length * edge.inverse_length)).to_array();
    let across = torque - tangent * torque.dot(tangent);
    let twisted = (across * (edge.inverse_length * R::splat(0.5))).to_array();
    let tangent = tangent.to_array();
    for row in 0..3 {
        for column in 0..3 {
            block[row][column] += tangent[row].mul_add(moved[column], moved[row] * tangent[column]);
        }
        block[row][3] += twisted[row];
        block[3][row] += twisted[row];
    }
}

impl<R: Real> PairGradient<R> {
    /// In the order e_{i−1}, θ_{i−1}, e_i, θ_i.
    #[inline(always)]
    pub fn edges_and_twists(&self) -> [R; 8] {
        let ([a, b, c, d], [e, f, g, h]) = (self.a, self.b);
        [a, b, c, d, e, f, g, h]
    }

    /// In the order e_{i−1}, e_i, with the twists held.
    #[inline(always)]
    pub fn edges(&self) -> [R; 6] {
        let ([a, b, c, _], [e, f, g, _]) = (self.a, self.b);
        [a, b, c, e, f, g]
    }

    /// In the order x_{i−1}, θ_{i−1}, x_i, θ_i, x_{i+1}.
    #[inline(always)]
    pub fn vertices_and_twists(&self) -> [R; 11] {
        let ([a, b, c, d], [e, f, g, h]) = (self.a, self.b);
        [-a, -b, -c, d, a - e, b - f, c - g, h, e, f, g]
    }
}

impl<R: Real> PairHessian<R> {
    /// In the order e_{i−1}, θ_{i−1}, e_i, θ_i.
    #[inline(always)]
    pub fn edges_and_twists(&self) -> [[R; 8]; 8] {
        std::array::from_fn(|row| std::array::from_fn(|column| self.entry(row, column)))
    }

    /// In the order e_{i−1}, e_i, with the twists held.
    #[inline(always)]
    pub fn edges(&self) -> [[R; 6]; 6] {
        let place = |index: usize| if index < 3 { index } else { index + 1 };
        std::array::from_fn(|row| std::array::from_fn(|column| self.entry(place(row), place(column))))
    }

    /// In the order x_{i−1}, θ_{i−1}, x_i, θ_i, x_{i+1}.
    #[inline(always)]
    pub fn vertices_and_twists(&self) -> [[R; 11]; 11] {
        let mut columns = [[R::zero(); 11]; 8];
        for (index, column) in columns.iter_mut().enumerate() {
            let entries = std::array::from_fn(|row| self.entry(row, index));
            *column = expand(entries);
        }
        std::array::from_fn(|row| expand(std::array::from_fn(|index| columns[index][row])))
    }

    /// The entry of the matrix of edges and twists.
    #[inline(always)]
    fn entry(&self, row: usize, column: usize) -> R {
        match (row < 4, column < 4) {
            (true, true) => self.aa[row][column],
            (true, false) => self.ab[row][column - 4],
            (false, true) => self.ab[column][row - 4],
            (false, false) => self.bb[row - 4][column - 4],
        }
    }
}

/// Derivatives in edges and twists become derivatives in vertices and twists.
#[inline(always)]
fn expand<R: Real>(entries: [R; 8]) -> [R; 11] {
    let [a, b, c, d, e, f, g, h] = entries;
    [-a, -b, -c, d, a - e, b - f, c - g, h, e, f, g]
}
