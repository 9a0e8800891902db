/// Where the strands and vertices of an edited groom come from, so that a solver can carry its state over.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remap {
    /// For each new strand the old strand that it comes from; `None` for a strand that is new altogether.
    pub strands: Vec<Option<u32>>,
    /// For each new vertex its place along that old strand, as a fractional vertex index. A value beyond the
    /// last vertex goes on along the last edge, in units of that edge.
    pub coordinates: Vec<f32>,
}
