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
        let rows = self.stiffness.full().0;
        let (columns_a, columns_b) = (push_forward(rows, a), push_forward(rows, b));
        PairHessian {
            aa: columns_times(columns_a, a),
            ab: columns_times(negated(columns_b), a),
            bb: columns_times(columns_b, b),
        }
    }

    /// The exact Hessian in edges and twists, to go with [`super::Bend::exact`].
    ///
    /// To second order an edge turns by `ψ − (t·δe)(t × δe)/l² + δθ δe⊥ / (2l)`, and two rotations compose to
    /// `w = ψ_b − ψ_a − ½ ψ_a × ψ_b`: the torque acts on these terms.
    #[inline(always)]
    pub fn exact_hessian(&self, a: Edge<R>, b: Edge<R>) -> PairHessian<R> {
        let [x, y, z] = self.stiffness.full().0;
        let half = self.torque * R::splat(0.5);
        // Stiffness less half the cross product matrix of the torque.
        let skewed = [
            Vector3::new(x.x, x.y + half.z, x.z - half.y),
            Vector3::new(y.x - half.z, y.y, y.z + half.x),
            Vector3::new(z.x + half.y, z.y - half.x, z.z),
        ];
        let mut hessian = PairHessian {
            aa: columns_times(push_forward([x, y, z], a), a),
            ab: columns_times(negated(push_forward(skewed, b)), a),
            bb: columns_times(push_forward([x, y, z], b), b),
        };
        add_second_order(&mut hessian.aa, -self.torque, a);
        add_second_order(&mut hessian.bb, self.torque, b);
        hessian
    }

    /// Derivatives in the twists alone, to go with [`super::Bend::gauss_newton`]. The Hessian of a strand is
    /// tridiagonal and positive semi-definite.
    #[inline(always)]
    pub fn gauss_newton_twists(&self, a: Edge<R>, b: Edge<R>) -> TwistDerivatives<R> {
        let (column_a, column_b) = (self.stiffness * a.tangent, self.stiffness * b.tangent);
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

// Written out, without closures: only what is inlined into a kernel's entry point runs in the processor's lanes.

/// The matrix of these rows times the map from (edge, twist) to the rotation vector, as four columns.
#[inline(always)]
fn push_forward<R: Real>([x, y, z]: [Vector3<R>; 3], edge: Edge<R>) -> [Vector3<R>; 4] {
    let (x, y, z) = (pull_back(x, edge), pull_back(y, edge), pull_back(z, edge));
    [
        Vector3::new(x[0], y[0], z[0]),
        Vector3::new(x[1], y[1], z[1]),
        Vector3::new(x[2], y[2], z[2]),
        Vector3::new(x[3], y[3], z[3]),
    ]
}

/// The transposed map from (edge, twist) to the rotation vector times these columns.
#[inline(always)]
fn columns_times<R: Real>([a, b, c, d]: [Vector3<R>; 4], edge: Edge<R>) -> [[R; 4]; 4] {
    let (a, b) = (pull_back(a, edge), pull_back(b, edge));
    let (c, d) = (pull_back(c, edge), pull_back(d, edge));
    [[a[0], b[0], c[0], d[0]], [a[1], b[1], c[1], d[1]], [a[2], b[2], c[2], d[2]], [a[3], b[3], c[3], d[3]]]
}

#[inline(always)]
fn negated<R: Real>([a, b, c, d]: [Vector3<R>; 4]) -> [Vector3<R>; 4] {
    [-a, -b, -c, -d]
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
        let mut matrix = [[R::zero(); 8]; 8];
        for row in 0..4 {
            for column in 0..4 {
                matrix[row][column] = self.aa[row][column];
                matrix[row][column + 4] = self.ab[row][column];
                matrix[column + 4][row] = self.ab[row][column];
                matrix[row + 4][column + 4] = self.bb[row][column];
            }
        }
        matrix
    }

    /// In the order e_{i−1}, e_i, with the twists held.
    #[inline(always)]
    pub fn edges(&self) -> [[R; 6]; 6] {
        let mut matrix = [[R::zero(); 6]; 6];
        for row in 0..3 {
            for column in 0..3 {
                matrix[row][column] = self.aa[row][column];
                matrix[row][column + 3] = self.ab[row][column];
                matrix[column + 3][row] = self.ab[row][column];
                matrix[row + 3][column + 3] = self.bb[row][column];
            }
        }
        matrix
    }

    /// In the order x_{i−1}, θ_{i−1}, x_i, θ_i, x_{i+1}.
    #[inline(always)]
    pub fn vertices_and_twists(&self) -> [[R; 11]; 11] {
        let (aa, ab, bb) = (&self.aa, &self.ab, &self.bb);
        let mut matrix = [[R::zero(); 11]; 11];
        // Rows of x_i are those of e_{i−1} less those of e_i.
        for row in 0..3 {
            for column in 0..3 {
                let (mixed, other) = (ab[row][column], ab[column][row]);
                matrix[row][column] = aa[row][column];
                matrix[row + 4][column + 4] = (aa[row][column] - mixed) + (bb[row][column] - other);
                matrix[row + 8][column + 8] = bb[row][column];
                set(&mut matrix, row + 4, column, other - aa[row][column]);
                set(&mut matrix, row + 8, column, -other);
                set(&mut matrix, row + 8, column + 4, other - bb[row][column]);
            }
            set(&mut matrix, 3, row, -aa[3][row]);
            set(&mut matrix, row + 4, 3, aa[3][row] - ab[3][row]);
            set(&mut matrix, row + 8, 3, ab[3][row]);
            set(&mut matrix, 7, row, -ab[row][3]);
            set(&mut matrix, row + 4, 7, ab[row][3] - bb[3][row]);
            set(&mut matrix, row + 8, 7, bb[3][row]);
        }
        matrix[3][3] = aa[3][3];
        matrix[7][7] = bb[3][3];
        set(&mut matrix, 7, 3, ab[3][3]);
        matrix
    }
}

/// Sets an entry of a symmetric matrix on both sides of the diagonal.
#[inline(always)]
fn set<R: Real>(matrix: &mut [[R; 11]; 11], row: usize, column: usize, value: R) {
    matrix[row][column] = value;
    matrix[column][row] = value;
}
