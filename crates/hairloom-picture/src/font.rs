//! Our own vector font: each letter is a few strokes of a round pen.

use glam::Vec2;

/// Strokes of a character: `strokes separated by spaces`, each a chain of points of two digits to the base 36, x and
/// then y. Capitals reach from y = 4 (the base line) to y = 18, small letters to y = 14, tails down to y = 0.
/// A stroke that begins with `~` is a smooth curve through its points.
#[rustfmt::skip]
const GLYPHS: &[(char, &str)] = &[
    ('A', "045ia4 2989"), ('B', "040i ~0i5i8h9f8c5b0b ~0b6b9aa7956404"), ('C', "~af8h5i2g0b265485a7"),
    ('D', "040i ~0i4i8gab864404"), ('E', "9i0i0494 0b7b"), ('F', "9i0i04 0b7b"),
    ('G', "~af8h5i2g0b265485a8 a8ab6b"), ('H', "040i a4ai 0bab"), ('I', "040i"), ('J', "~7i7d7865441507"),
    ('K', "040i 9i09 3ca4"), ('L', "0i0484"), ('M', "040i68cic4"), ('N', "040ia4ai"),
    ('O', "~5i2g0b265486ab8g5i"), ('P', "040i ~0i5i8h9e8b5a0a"), ('Q', "~5i2g0b265486ab8g5i 68b3"),
    ('R', "040i ~0i5i8h9e8b5a0a 4a94"), ('S', "~9f7h5i2h0f1d5b899785542507"), ('T', "0iai 5i54"),
    ('U', "~0i0d08255485a8adai"), ('V', "0i54ai"), ('W', "0i447fa4ei"), ('X', "0ia4 ai04"),
    ('Y', "0i5bai 5b54"), ('Z', "0iai04a4"),
    ('a', "~4e1c09164476897c4e 8e84"), ('b', "0i04 ~091c4e7c8976441609"), ('c', "~7c6d4e1c0916446576"),
    ('d', "8i84 ~897c4e1c0916447689"), ('e', "0989 ~897c4e1c0916446577"), ('f', "~6i4i2g2d2924 0e5e"),
    ('g', "~4e1c09164476897c4e 8e86 ~868371401102"), ('h', "0i04 ~091c4e7d8a8784"), ('i', "0e04 0h0i"),
    ('j', "3e39 ~3933211000 3h3i"), ('k', "0i04 7e07 3a84"), ('l', "~0i0c061434"),
    ('m', "0e04 ~091c3e5d6a6764 ~697c9ebdcac7c4"), ('n', "0e04 ~091c4e7d8a8784"), ('o', "~4e1c09164476897c4e"),
    ('p', "0e00 ~091c4e7c8976441609"), ('q', "8e80 ~897c4e1c0916447689"), ('r', "0e04 ~091c3e5e"),
    ('s', "~7c6d4e1d0c1a49687665441506"), ('t', "~2h2c27345465 0e5e"), ('u', "~0e0b0815447589 8e84"),
    ('v', "0e448e"), ('w', "0e346d94ce"), ('x', "0e84 8e04"), ('y', "8e20 0e44"), ('z', "0e8e0484"),
    ('0', "~4i1g0b1644768b7g4i"), ('1', "1f4i44 1474"), ('2', "~0f2h4i7h8e7b4804 0484"),
    ('3', "~0f2h4i7h8f7c3b ~3b7a8775441506"), ('4', "646i0888"), ('5', "7i1i0b ~0b4c7b8875441506"),
    ('6', "~7h4i1f09154475887b4c1b09"), ('7', "0i8i34"), ('8', "~4i1h0f1c4b7c8f7h4i ~4b1a07154475877a4b"),
    ('9', "~1544778d7h4i1h0e1b4a7b8d"),
    ('!', "0i09 0405"), ('"', "0i0e 3i3e"), ('#', "4i24 8i64 1e9e 0888"),
    ('$', "~9f7h5i2h0f1d5b899785542507 5k52"), ('%', "8i04 ~2i0g2e4g2i ~6846648668"),
    ('&', "~94693d2g4i6g5d1a071544668a"), ('\'', "0i0e"), ('(', "~3k1g0b1632"), (')', "~0k2g3b2602"),
    ('*', "3h3b 0g6c 6g0c"), ('+', "4f47 0b8b"), (',', "151402"), ('-', "0b6b"), ('.', "0414150504"), ('/', "026k"),
    (':', "0414150504 0c1c1d0d0c"), (';', "0c1c1d0d0c 151402"), ('<', "7g0b76"), ('=', "0d8d 0989"),
    ('>', "0g7b06"), ('?', "~0f2h4i7h7e5c4a48 4454554544"), ('@', "~8c6d4b4867898d ~89a8cbag7i3h0c164484"),
    ('[', "3k0k0232"), ('\\', "0k62"), (']', "0k3k3202"), ('^', "0e3i6e"), ('_', "0282"), ('`', "0i2f"),
    ('{', "~4k2j2f1c0b1a272342"), ('|', "0k02"), ('}', "~0k2j2f3c4b3a272302"), ('~', "~0a2c4b6a8c"),
    ('α', "~8e774416091c4e7b84"), ('β', "~000d1h4i7g6c3b ~3b7a8775441507"), ('γ', "0e458e 4540"),
    ('δ', "~7h4i2g4d7b88754415081b4d"), ('ε', "~7d4e1d1b49 ~4907154475"), ('θ', "~4i1g0b1644768b7g4i 0b8b"),
    ('κ', "0e04 7e08 3a74"), ('λ', "1i84 4c04"), ('μ', "0e00 ~0815447589 8e84"), ('µ', "0e00 ~0815447589 8e84"),
    ('ν', "0e44 ~44798e"),
    ('π', "0e9e 2e24 7e74"), ('ρ', "~00091c4e7c8976441609"), ('σ', "~4e1c09164476897c4e 4e9e"),
    ('τ', "0e8e ~4e485474"), ('φ', "~4e1c09164476897c4e 4i40"), ('ω', "~1e0724465a ~5a6684a79e"),
    ('Γ', "040i8i"), ('Δ', "045ia404"), ('°', "~2i0g2e4g2i"), ('×', "1f77 7f17"), ('·', "0a1a1b0b0a"),
    ('²', "0g1i3i4g0c4c"), ('³', "0i4i2f4d2c0c"), ('⁴', "3c3i0e4e"), ('−', "0b8b"), ('–', "0a8a"),
];

/// Stands for every character that has no strokes of its own.
const MISSING: &str = "040i8i8404";
/// Height of a capital in the units of the table.
const CAPITAL: f32 = 14.0;
/// Base line in the units of the table.
const BASE: f32 = 4.0;
/// Space between two characters, and the width of a blank.
const GAP: f32 = 4.2;
const BLANK: f32 = 5.0;

fn strokes_of(character: char) -> &'static str {
    GLYPHS.iter().find(|(known, _)| *known == character).map_or(MISSING, |(_, strokes)| strokes)
}

/// The points of a stroke, smooth ones already as fine chains.
fn decode(stroke: &str) -> Vec<Vec2> {
    let (smooth, digits) = stroke.strip_prefix('~').map_or((false, stroke), |digits| (true, digits));
    let values: Vec<f32> =
        digits.chars().filter_map(|digit| digit.to_digit(36)).map(|digit| digit as f32).collect();
    let points: Vec<Vec2> = values.chunks_exact(2).map(|pair| Vec2::new(pair[0], pair[1])).collect();
    if smooth { smoothed(&points) } else { points }
}

/// A Catmull–Rom curve through some points; closed if the first one is also the last.
fn smoothed(points: &[Vec2]) -> Vec<Vec2> {
    const PIECES: usize = 6;
    let count = points.len();
    let closed = count > 2 && points.first() == points.last();
    let at = |index: isize| {
        if closed {
            points[index.rem_euclid(count as isize - 1) as usize]
        } else {
            points[index.clamp(0, count as isize - 1) as usize]
        }
    };
    let mut fine = Vec::new();
    for segment in 0..count.saturating_sub(1) as isize {
        let [a, b, c, d] = [at(segment - 1), at(segment), at(segment + 1), at(segment + 2)];
        for piece in 0..PIECES {
            let t = piece as f32 / PIECES as f32;
            let (t2, t3) = (t * t, t * t * t);
            let sum = b * 2.0
                + (c - a) * t
                + (a * 2.0 - b * 5.0 + c * 4.0 - d) * t2
                + (b * 3.0 - a - c * 3.0 + d) * t3;
            fine.push(sum * 0.5);
        }
    }
    fine.extend(points.last());
    fine
}

/// Width of a text whose capitals are `size` high, in the same unit.
pub(crate) fn text_width(text: &str, size: f32) -> f32 {
    let width: f32 = text.chars().map(advance).sum();
    (width - GAP).max(0.0) * size / CAPITAL
}

fn advance(character: char) -> f32 {
    if character == ' ' {
        return BLANK + GAP;
    }
    let right = strokes_of(character)
        .split(' ')
        .flat_map(|stroke| decode(stroke).into_iter().map(|point| point.x))
        .fold(0.0, f32::max);
    right + GAP
}

/// The strokes of a text: it begins at (0, 0) on the base line, y grows downward as in a picture.
pub(crate) fn text_strokes(text: &str, size: f32) -> Vec<Vec<Vec2>> {
    let scale = size / CAPITAL;
    let mut left = 0.0;
    let mut strokes = Vec::new();
    for character in text.chars() {
        if character != ' ' {
            strokes.extend(strokes_of(character).split(' ').map(|stroke| {
                let place = |point: Vec2| Vec2::new(left + point.x, BASE - point.y) * scale;
                decode(stroke).into_iter().map(place).collect()
            }));
        }
        left += advance(character);
    }
    strokes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_character_has_well_formed_strokes() {
        for character in ('!'..='~').chain("αβγδθκμνπφ°²⁴×−".chars()) {
            let strokes = strokes_of(character);
            assert_ne!(strokes, MISSING, "{character}");
            for stroke in strokes.split(' ') {
                let digits = stroke.trim_start_matches('~');
                assert!(digits.len() >= 4 && digits.len() % 2 == 0, "{character}: {stroke}");
                assert!(digits.chars().all(|digit| digit.is_digit(36)), "{character}: {stroke}");
                let inside = |p: &Vec2| p.x >= -1.0 && p.x <= 15.0 && p.y >= -1.0 && p.y <= 21.0;
                assert!(decode(stroke).iter().all(inside), "{character}: {stroke}");
            }
        }
    }

    #[test]
    fn width_grows_with_text_and_size() {
        assert!(text_width("mm", 10.0) > text_width("m", 10.0));
        assert!((text_width("strand", 20.0) / text_width("strand", 10.0) - 2.0).abs() < 1e-5);
        assert_eq!(text_width("", 10.0), 0.0);
    }
}
