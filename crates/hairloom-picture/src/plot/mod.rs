//! Plots of results: lines and marks in panels, as pictures.
//!
//! ```
//! use hairloom_picture::plot::{Axis, Figure, Panel, Series};
//!
//! let curve = (0..50).map(|i| f64::from(i) * 0.1).map(|x| (x, (-x).exp())).collect();
//! let panel = Panel::new(Axis::new("time [s]"), Axis::log("amplitude")).with(Series::line("decay", curve));
//! let image = Figure::new("Damped strand").with(panel).draw()?;
//! assert!(image.width > 300);
//! # Ok::<(), hairloom_picture::PictureError>(())
//! ```

mod axis;
mod draw;

use crate::{Image, PictureError};

/// Panels in a grid under one title.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Above all panels; may be empty.
    pub title: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Panels in a row.
    pub columns: usize,
    /// Width and height of a panel [px].
    pub panel_size: (u32, u32),
}

impl Figure {
    /// A figure without panels yet; they stand two in a row if there are several.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), panels: Vec::new(), columns: 2, panel_size: (720, 480) }
    }

    /// Adds a panel.
    pub fn with(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Draws the figure. Points that are not finite, or not positive on a logarithmic axis, leave a gap.
    pub fn draw(&self) -> Result<Image, PictureError> {
        draw::draw(self)
    }
}

/// One pair of axes with its series.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Above the panel; may be empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, the last on top.
    pub series: Vec<Series>,
    /// One unit is as long on both axes, for shapes in space. Logarithmic axes ignore it.
    pub equal_aspect: bool,
}

impl Panel {
    /// An empty panel.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { title: String::new(), x, y, series: Vec::new(), equal_aspect: false }
    }

    /// Sets the title.
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Adds a series.
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Makes one unit as long on both axes.
    pub fn with_equal_aspect(mut self) -> Self {
        self.equal_aspect = true;
        self
    }
}

/// How values are laid out on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long.
    Log,
}

/// An axis of a panel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What it shows, with the unit.
    pub title: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// First and last value; without them, as far as the data goes.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// A linear axis as long as its data.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), scale: Scale::Linear, range: None }
    }

    /// A logarithmic axis as long as its data.
    pub fn log(title: impl Into<String>) -> Self {
        Self { title: title.into(), scale: Scale::Log, range: None }
    }

    /// Fixes the first and the last value.
    pub fn from_to(mut self, first: f64, last: f64) -> Self {
        self.range = Some((first, last));
        self
    }
}

/// Points with a name and a look.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// In the legend; an empty name is left out of it.
    pub name: String,
    /// The data.
    pub points: Vec<(f64, f64)>,
    /// Its colour (8-bit sRGB); without one, the next of a palette.
    pub color: Option<[u8; 3]>,
    /// Width of the line [px]; 0 for none.
    pub line: f32,
    /// Whether the line is dashed.
    pub dashed: bool,
    /// Diameter of the marks [px]; 0 for none.
    pub marks: f32,
}

impl Series {
    /// Points joined by a line.
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, color: None, line: 2.4, dashed: false, marks: 0.0 }
    }

    /// Single marks.
    pub fn scatter(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, color: None, line: 0.0, dashed: false, marks: 8.0 }
    }

    /// Sets the colour (8-bit sRGB).
    pub fn colored(mut self, color: [u8; 3]) -> Self {
        self.color = Some(color);
        self
    }

    /// Dashes the line, as for a reference.
    pub fn dashed(mut self) -> Self {
        self.dashed = true;
        self
    }

    /// Adds marks at the points.
    pub fn marked(mut self) -> Self {
        self.marks = 8.0;
        self
    }
}

/// A colour between a pale blue (0) and a deep violet (1), for series that follow one another in time.
pub fn fade(t: f64) -> [u8; 3] {
    const STOPS: [[f64; 3]; 4] =
        [[196.0, 214.0, 236.0], [104.0, 160.0, 208.0], [58.0, 92.0, 170.0], [62.0, 24.0, 92.0]];
    let place = if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.0 } * 3.0;
    let stop = (place as usize).min(2);
    std::array::from_fn(|channel| {
        let (from, to) = (STOPS[stop][channel], STOPS[stop + 1][channel]);
        (from + (to - from) * (place - stop as f64)).round() as u8
    })
}
