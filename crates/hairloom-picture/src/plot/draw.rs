//! Puts a figure on a picture.

use glam::{DVec2, Vec2};

use crate::canvas::{Anchor, Canvas, Ink};
use crate::font::text_width;
use crate::plot::axis::{Span, Tick};
use crate::plot::{Figure, Panel, Scale, Series};
use crate::{Image, PictureError};

/// Colours for series without one: told apart by people with any colour vision (after Okabe and Ito).
const PALETTE: [[u8; 3]; 7] = [
    [0, 100, 170],
    [208, 88, 0],
    [0, 145, 106],
    [190, 100, 155],
    [70, 165, 220],
    [205, 150, 0],
    [70, 70, 78],
];
const INK: [u8; 3] = [38, 40, 46];
const SOFT_INK: [u8; 3] = [86, 90, 98];
const GRID: [u8; 3] = [228, 231, 236];
const PAPER: [u8; 3] = [255, 255, 255];

/// Heights of capitals [px].
const FIGURE_TITLE: f32 = 17.0;
const PANEL_TITLE: f32 = 14.0;
const AXIS_TITLE: f32 = 12.0;
const TICK_TEXT: f32 = 10.5;

pub(crate) fn draw(figure: &Figure) -> Result<Image, PictureError> {
    let count = figure.panels.len();
    if count == 0 {
        return Err(PictureError::Plot("the figure has no panels".to_string()));
    }
    let (width, height) = figure.panel_size;
    if width < 160 || height < 120 {
        return Err(PictureError::Plot(format!(
            "panels of {width}x{height} pixels are too small, use 160x120 or more"
        )));
    }
    let columns = figure.columns.clamp(1, count);
    let rows = count.div_ceil(columns);
    let head = if figure.title.is_empty() { 0 } else { 52 };
    let side = |number: usize, size: u32| u32::try_from(number).unwrap_or(u32::MAX).saturating_mul(size);
    let mut image = Image::new(side(columns, width), side(rows, height).saturating_add(head), PAPER)?;
    let middle = image.width as f32 * 0.5;
    let mut canvas = Canvas::new(&mut image);
    canvas.text(&figure.title, Vec2::new(middle, 36.0), FIGURE_TITLE, Anchor::Middle, INK.into());
    for (index, panel) in figure.panels.iter().enumerate() {
        let corner =
            Vec2::new(side(index % columns, width) as f32, (side(index / columns, height) + head) as f32);
        PanelPainter::new(panel, corner, Vec2::new(width as f32, height as f32)).paint(&mut canvas);
    }
    Ok(image)
}

struct PanelPainter<'a> {
    panel: &'a Panel,
    x: Span,
    y: Span,
    /// Upper left and lower right corner of the frame [px].
    low: Vec2,
    high: Vec2,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    /// Upper edge of the panel [px].
    top: f32,
    left: f32,
}

impl<'a> PanelPainter<'a> {
    fn new(panel: &'a Panel, corner: Vec2, size: Vec2) -> Self {
        let points = || panel.series.iter().flat_map(|series| &series.points);
        let mut x = Span::new(&panel.x, points().map(|point| point.0));
        let mut y = Span::new(&panel.y, points().map(|point| point.1));
        let head = if panel.title.is_empty() { 18.0 } else { 46.0 };
        let mut low = corner + Vec2::new(84.0, head);
        let high = corner + size - Vec2::new(26.0, 62.0);
        let rows = ((high.y - low.y) / 58.0) as usize + 1;
        // Long numbers need more room on the left.
        let widest = y.ticks(rows).iter().map(|tick| text_width(&tick.text, TICK_TEXT)).fold(0.0, f32::max);
        low.x = corner.x + (widest + 58.0).clamp(70.0, size.x * 0.4);
        if panel.equal_aspect && x.scale == Scale::Linear && y.scale == Scale::Linear {
            equalize(&mut x, &mut y, (high - low).as_dvec2());
        }
        let y_ticks = y.ticks(rows);
        let x_ticks = x.ticks(((high.x - low.x) / 96.0) as usize + 1);
        Self { panel, x, y, low, high, x_ticks, y_ticks, top: corner.y, left: corner.x }
    }

    fn paint(&self, canvas: &mut Canvas) {
        self.paint_grid(canvas);
        canvas.clip(self.low - 1.0, self.high + 1.0);
        for (index, series) in self.panel.series.iter().enumerate() {
            self.paint_series(canvas, series, self.color(index));
        }
        canvas.unclip();
        self.paint_legend(canvas);
        let (low, high) = (self.low, self.high);
        canvas.stroke(&[vec![low, Vec2::new(low.x, high.y), high]], 1.6, INK.into());
        let middle = (low + high) * 0.5;
        canvas.text(
            &self.panel.title,
            Vec2::new(middle.x, self.top + 30.0),
            PANEL_TITLE,
            Anchor::Middle,
            INK.into(),
        );
        let below = Vec2::new(middle.x, high.y + 48.0);
        canvas.text(&self.panel.x.title, below, AXIS_TITLE, Anchor::Middle, INK.into());
        let beside = Vec2::new(self.left + 26.0, middle.y);
        canvas.turned_text(&self.panel.y.title, beside, AXIS_TITLE, Anchor::Middle, INK.into(), Vec2::NEG_Y);
    }

    /// The colour of a series: its own, or the next of the palette.
    fn color(&self, index: usize) -> [u8; 3] {
        let unnamed = self.panel.series[..index].iter().filter(|series| series.color.is_none()).count();
        self.panel.series[index].color.unwrap_or(PALETTE[unnamed % PALETTE.len()])
    }

    fn paint_grid(&self, canvas: &mut Canvas) {
        for tick in &self.x_ticks {
            let Some(place) = self.x.place(tick.value) else { continue };
            let x = (self.low.x + (self.high.x - self.low.x) * place as f32).round() + 0.5;
            let named = !tick.text.is_empty();
            if named {
                canvas.stroke(&[vec![Vec2::new(x, self.low.y), Vec2::new(x, self.high.y)]], 1.0, GRID.into());
                let at = Vec2::new(x, self.high.y + 22.0);
                canvas.text(&tick.text, at, TICK_TEXT, Anchor::Middle, SOFT_INK.into());
            }
            let length = if named { 6.0 } else { 3.5 };
            canvas.stroke(
                &[vec![Vec2::new(x, self.high.y), Vec2::new(x, self.high.y + length)]],
                1.2,
                INK.into(),
            );
        }
        for tick in &self.y_ticks {
            let Some(place) = self.y.place(tick.value) else { continue };
            let y = (self.high.y - (self.high.y - self.low.y) * place as f32).round() + 0.5;
            let named = !tick.text.is_empty();
            if named {
                canvas.stroke(&[vec![Vec2::new(self.low.x, y), Vec2::new(self.high.x, y)]], 1.0, GRID.into());
                let at = Vec2::new(self.low.x - 11.0, y + TICK_TEXT * 0.5);
                canvas.text(&tick.text, at, TICK_TEXT, Anchor::Right, SOFT_INK.into());
            }
            let length = if named { 6.0 } else { 3.5 };
            canvas.stroke(
                &[vec![Vec2::new(self.low.x - length, y), Vec2::new(self.low.x, y)]],
                1.2,
                INK.into(),
            );
        }
    }

    /// Where a point lies on the picture [px]; far outside it is moved to a bounded distance.
    fn pixel(&self, point: (f64, f64)) -> Option<Vec2> {
        let (x, y) = (self.x.place(point.0)?.clamp(-50.0, 50.0), self.y.place(point.1)?.clamp(-50.0, 50.0));
        let size = self.high - self.low;
        Some(Vec2::new(self.low.x + size.x * x as f32, self.high.y - size.y * y as f32))
    }

    fn paint_series(&self, canvas: &mut Canvas, series: &Series, color: [u8; 3]) {
        if series.line > 0.0 {
            // Points without a place part the line.
            let mut chains = vec![Vec::new()];
            for &point in &series.points {
                match (self.pixel(point), chains.last_mut()) {
                    (Some(pixel), Some(chain)) => chain.push(pixel),
                    _ => chains.push(Vec::new()),
                }
            }
            chains.retain(|chain| !chain.is_empty());
            let chains =
                if series.dashed { chains.iter().flat_map(|chain| dashes(chain)).collect() } else { chains };
            canvas.stroke(&chains, series.line, color.into());
        }
        if series.marks > 0.0 {
            for pixel in series.points.iter().filter_map(|&point| self.pixel(point)) {
                mark(canvas, pixel, series.marks * 0.5, color);
            }
        }
    }

    fn paint_legend(&self, canvas: &mut Canvas) {
        let named: Vec<usize> =
            (0..self.panel.series.len()).filter(|&index| !self.panel.series[index].name.is_empty()).collect();
        if named.is_empty() {
            return;
        }
        let widest = named
            .iter()
            .map(|&index| text_width(&self.panel.series[index].name, TICK_TEXT))
            .fold(0.0, f32::max);
        let size = Vec2::new(widest + 62.0, named.len() as f32 * 22.0 + 10.0);
        let corner = self.emptiest_corner(size);
        canvas.fill(corner, corner + size, Ink { color: PAPER, opacity: 0.86 });
        for (row, &index) in named.iter().enumerate() {
            let (series, color) = (&self.panel.series[index], self.color(index));
            let y = corner.y + 16.0 + row as f32 * 22.0;
            let line = vec![Vec2::new(corner.x + 10.0, y), Vec2::new(corner.x + 40.0, y)];
            if series.line > 0.0 {
                let chains = if series.dashed { dashes(&line) } else { vec![line] };
                canvas.stroke(&chains, series.line, color.into());
            }
            if series.marks > 0.0 {
                mark(canvas, Vec2::new(corner.x + 25.0, y), series.marks * 0.5, color);
            }
            let at = Vec2::new(corner.x + 50.0, y + TICK_TEXT * 0.5);
            canvas.text(&series.name, at, TICK_TEXT, Anchor::Left, INK.into());
        }
    }

    /// The place for a box where it hides the fewest points.
    fn emptiest_corner(&self, size: Vec2) -> Vec2 {
        let (low, high) = (self.low + 10.0, self.high - size - 10.0);
        let places = [Vec2::new(high.x, low.y), low, high, Vec2::new(low.x, high.y)];
        let hidden = |corner: Vec2| {
            let inside = |p: Vec2| p.cmpge(corner - 6.0).all() && p.cmple(corner + size + 6.0).all();
            let mut count = 0;
            for series in &self.panel.series {
                let pixels: Vec<Vec2> = series.points.iter().filter_map(|&point| self.pixel(point)).collect();
                count += pixels.iter().filter(|&&pixel| inside(pixel)).count();
                // A line of few points may cross the box between them.
                let between = |pair: &[Vec2]| (1..8).any(|i| inside(pair[0].lerp(pair[1], i as f32 / 8.0)));
                count += pixels.windows(2).filter(|pair| series.line > 0.0 && between(pair)).count();
            }
            count
        };
        places.into_iter().min_by_key(|&corner| hidden(corner)).unwrap_or(low)
    }
}

/// Widens one range so that a unit is as long on both axes.
fn equalize(x: &mut Span, y: &mut Span, size: DVec2) {
    let units = DVec2::new((x.last - x.first).abs(), (y.last - y.first).abs());
    let unit = (units / size).max_element();
    for (span, pixels) in [(x, size.x), (y, size.y)] {
        let (middle, half) = ((span.first + span.last) * 0.5, unit * pixels * 0.5);
        let half = if span.last < span.first { -half } else { half };
        (span.first, span.last) = (middle - half, middle + half);
    }
}

fn mark(canvas: &mut Canvas, at: Vec2, radius: f32, color: [u8; 3]) {
    canvas.disc(at, radius + 1.2, PAPER.into());
    canvas.disc(at, radius, color.into());
}

/// A chain cut into dashes.
fn dashes(chain: &[Vec2]) -> Vec<Vec<Vec2>> {
    const DASH: f32 = 9.0;
    const SPACE: f32 = 6.0;
    let mut dashes: Vec<Vec<Vec2>> = Vec::new();
    let mut travelled = 0.0f32;
    for pair in chain.windows(2) {
        let length = (pair[1] - pair[0]).length();
        let mut done = 0.0;
        while done < length {
            let phase = travelled % (DASH + SPACE);
            let drawn = phase < DASH;
            // Never stands still, whatever the rounding.
            let step = (if drawn { DASH - phase } else { DASH + SPACE - phase }).max(0.05).min(length - done);
            let (from, to) =
                (pair[0].lerp(pair[1], done / length), pair[0].lerp(pair[1], (done + step) / length));
            if drawn {
                match dashes.last_mut() {
                    Some(dash) if phase > 0.0 && dash.last() == Some(&from) => dash.push(to),
                    _ => dashes.push(vec![from, to]),
                }
            }
            done += step.max(1e-3);
            travelled += step;
        }
    }
    dashes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Axis;

    #[test]
    fn equal_aspect_gives_square_units() {
        let circle = (0..60).map(|i| f64::from(i) * 0.1).map(|t| (t.cos() * 3.0, t.sin() * 3.0)).collect();
        let panel =
            Panel::new(Axis::new("x"), Axis::new("y")).with(Series::line("", circle)).with_equal_aspect();
        let painter = PanelPainter::new(&panel, Vec2::ZERO, Vec2::new(700.0, 400.0));
        let at = |x, y| painter.pixel((x, y)).unwrap();
        let (wide, tall) = (at(1.0, 0.0).x - at(0.0, 0.0).x, at(0.0, 0.0).y - at(0.0, 1.0).y);
        assert!((wide / tall - 1.0).abs() < 0.02, "{wide} {tall}");
    }

    #[test]
    fn legend_keeps_clear_of_the_data() {
        let rising: Vec<_> = (0..20).map(|i| (f64::from(i), f64::from(i))).collect();
        let panel = Panel::new(Axis::new("x"), Axis::new("y")).with(Series::line("rising", rising));
        let painter = PanelPainter::new(&panel, Vec2::ZERO, Vec2::new(700.0, 400.0));
        let corner = painter.emptiest_corner(Vec2::new(120.0, 40.0));
        assert_eq!(corner, painter.low + 10.0);
    }

    #[test]
    fn strange_data_and_sizes_never_panic() {
        let strange =
            vec![(f64::NAN, 1.0), (1e308, -1e308), (0.0, 0.0), (f64::INFINITY, 2.0), (-3.0, 1e-300)];
        for axis in [Axis::new("x"), Axis::log("x")] {
            let series = [Series::line("a", strange.clone()).dashed(), Series::scatter("b", strange.clone())];
            let panel = series.into_iter().fold(Panel::new(axis.clone(), axis), Panel::with);
            Figure::new("").with(panel.clone()).with(panel.with_equal_aspect()).draw().unwrap();
        }
        assert!(Figure::new("empty").draw().is_err());
        let mut tiny = Figure::new("tiny").with(Panel::new(Axis::new(""), Axis::new("")));
        tiny.draw().unwrap();
        tiny.panel_size = (10, 10);
        assert!(tiny.draw().is_err());
        tiny.panel_size = (u32::MAX, 300);
        assert!(tiny.draw().is_err());
    }

    #[test]
    fn dashes_cover_their_share() {
        let chain: Vec<Vec2> = (0..200).map(|i| Vec2::new(i as f32 * 1.7, 0.0)).collect();
        let drawn: f32 = dashes(&chain)
            .iter()
            .flat_map(|dash| dash.windows(2).map(|pair| (pair[1] - pair[0]).length()))
            .sum();
        assert!((drawn / (199.0 * 1.7) - 0.6).abs() < 0.03, "{drawn}");
    }
}
