//! Text tables with aligned columns.

use std::fmt::Write;

/// Rows of cells, the first row being the head. The first column is aligned to the left, the others to the right.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cell_width =
        |row: &Vec<String>, column: usize| row.get(column).map_or(0, |cell| cell.chars().count());
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().map(|row| cell_width(row, column)).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let written = match column {
                0 => write!(line, "{cell:<width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
            debug_assert!(written.is_ok(), "writing to a string cannot fail");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A number with four significant digits, without trailing zeros.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let size = value.abs();
    if value != 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{value:.3e}");
    }
    let digits = if size >= 1000.0 { 0 } else { (3 - size.max(1e-4).log10().floor() as i32).clamp(0, 8) };
    let text = format!("{value:.*}", digits as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["name".to_owned(), "n".to_owned()], vec!["a".to_owned(), "12".to_owned()]];
        assert_eq!(table(&rows), "name   n\na     12\n");
    }

    #[test]
    fn numbers_keep_four_digits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.123456, "0.1235"),
            (12.3456, "12.35"),
            (123456.0, "123456"),
            (1.5e-7, "1.500e-7"),
            (-2.5, "-2.5"),
            (f64::NAN, "-"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}
