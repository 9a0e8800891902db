//! Values of arguments: `key=value` settings and `WxH` sizes.

use toml::Value;

/// Reads `key=value`, the value in TOML; a bare word is a string.
pub(crate) fn setting(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("expected key=value, as in time.fps=30")?;
    let (key, value) = (key.trim(), value.trim());
    if key.is_empty() {
        return Err("expected a key before the '='".to_owned());
    }
    Ok((key.to_owned(), toml_value(value)?))
}

fn toml_value(text: &str) -> Result<Value, String> {
    match format!("value = {text}").parse::<toml::Table>() {
        // A line break could smuggle a second key in.
        Ok(mut table) if table.len() == 1 => {
            table.remove("value").ok_or_else(|| format!("'{text}' is no TOML value"))
        }
        Ok(_) => Err(format!("'{text}' is more than one TOML value")),
        Err(error) if text.is_empty() || text.starts_with(['[', '{', '"', '\'']) => {
            Err(format!("'{text}' is no TOML value: {}", error.message().trim().replace('\n', ", ")))
        }
        Err(_) => Ok(Value::String(text.to_owned())),
    }
}

/// Reads a size in pixels, as 1280x720.
pub(crate) fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once(['x', 'X', '×']);
    sides
        .and_then(|(width, height)| Some((width.trim().parse().ok()?, height.trim().parse().ok()?)))
        .filter(|&(width, height)| width > 0 && height > 0)
        .ok_or_else(|| "expected WIDTHxHEIGHT in pixels, as in 1280x720".to_owned())
}

/// Reads a factor: a number above 0.
pub(crate) fn factor(text: &str) -> Result<f32, String> {
    let number = text.trim().parse().ok().filter(|factor: &f32| factor.is_finite() && *factor > 0.0);
    number.ok_or_else(|| "expected a number above 0, as in 1.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_toml_and_bare_words_are_strings() {
        let value = |text: &str| setting(text).map(|(_, value)| value);
        assert_eq!(value("a=3"), Ok(Value::Integer(3)));
        assert_eq!(value("a = 2.5e-3 "), Ok(Value::Float(2.5e-3)));
        assert_eq!(value("a=true"), Ok(Value::Boolean(true)));
        assert_eq!(value("a=wavy"), Ok(Value::String("wavy".into())));
        assert_eq!(value("a=head-turn"), Ok(Value::String("head-turn".into())));
        assert_eq!(value("a=\"x=y\""), Ok(Value::String("x=y".into())));
        assert_eq!(value("a=[0.05, 0.2]"), Ok(Value::Array(vec![Value::Float(0.05), Value::Float(0.2)])));
        assert_eq!(setting("body.head.friction=1").map(|(key, _)| key), Ok("body.head.friction".into()));
    }

    #[test]
    fn broken_settings_are_refused() {
        for text in ["a", "=3", "a=", "a=[1, 2", "a={b=", "a=\"open", "a=1\nb=2"] {
            assert!(setting(text).is_err(), "{text}");
        }
    }

    #[test]
    fn factors() {
        assert_eq!(factor(" 1.5"), Ok(1.5));
        for text in ["", "0", "-3", "nan", "inf", "1e99", "2x"] {
            assert!(factor(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(size("1280x720"), Ok((1280, 720)));
        assert_eq!(size("64×48"), Ok((64, 48)));
        for text in ["", "1280", "x720", "0x10", "-1x5", "1e3x5", "99999999999x1"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
