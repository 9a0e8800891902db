use std::str::FromStr;

use glam::Vec3;

use crate::PictureError;

/// The colour of hair, as linear RGB that a thick tress of it reflects.
///
/// Real hair colours come from two pigments, brown-black eumelanin and red-yellow pheomelanin; dyes may have any
/// colour. Reads from text: one of [`HairColor::NAMES`] or `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HairColor {
    /// Linear RGB, each 0 to 1.
    pub reflectance: Vec3,
}

impl HairColor {
    /// The names that [`HairColor::named`] knows.
    pub const NAMES: [&'static str; 9] =
        ["black", "dark-brown", "brown", "light-brown", "auburn", "red", "blond", "grey", "white"];

    /// Natural hair, from the concentrations of its two pigments.
    ///
    /// 8 of eumelanin is black, 1.3 brown, 0.3 blond; pheomelanin adds red. Absorption after d'Eon et al.,
    /// "An Energy-Conserving Hair Reflectance Model" (2011); the colour of the tress after Chiang et al.,
    /// "A Practical and Controllable Hair and Fur Model for Production Path Tracing" (2016), with the azimuthal
    /// roughness 0.3.
    pub fn from_melanin(eumelanin: f32, pheomelanin: f32) -> Self {
        let absorption = Vec3::new(0.419, 0.697, 1.37) * eumelanin.max(0.0)
            + Vec3::new(0.187, 0.4, 1.05) * pheomelanin.max(0.0);
        let root = Vec3::new(absorption.x.sqrt(), absorption.y.sqrt(), absorption.z.sqrt());
        Self { reflectance: (root * -5.89).exp() }
    }

    /// Dyed hair: the colour of a thick tress in 8-bit sRGB.
    pub fn from_srgb(rgb: [u8; 3]) -> Self {
        let linear = rgb.map(|value| linear_from_srgb(f32::from(value) / 255.0));
        Self { reflectance: Vec3::from_array(linear).clamp(Vec3::splat(0.004), Vec3::splat(0.95)) }
    }

    /// A colour by its name, see [`HairColor::NAMES`].
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "black" => Self::from_srgb([24, 20, 18]),
            "dark-brown" => Self::from_srgb([52, 34, 24]),
            "brown" => Self::from_srgb([92, 58, 38]),
            "light-brown" => Self::from_srgb([134, 94, 62]),
            "auburn" => Self::from_srgb([110, 61, 40]),
            "red" => Self::from_srgb([168, 90, 50]),
            "blond" => Self::from_srgb([206, 174, 130]),
            "grey" => Self::from_srgb([124, 123, 121]),
            "white" => Self::from_srgb([226, 224, 220]),
            _ => return None,
        })
    }
}

impl Default for HairColor {
    fn default() -> Self {
        Self::from_srgb([92, 58, 38])
    }
}

impl FromStr for HairColor {
    type Err = PictureError;

    fn from_str(text: &str) -> Result<Self, PictureError> {
        let text = text.trim();
        if let Some(color) = Self::named(text) {
            return Ok(color);
        }
        let unknown = || PictureError::HairColor(text.to_string());
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii());
        let value = u32::from_str_radix(digits.ok_or_else(unknown)?, 16).map_err(|_| unknown())?;
        let [_, red, green, blue] = value.to_be_bytes();
        Ok(Self::from_srgb([red, green, blue]))
    }
}

/// Linear light from an sRGB value, both 0 to 1.
pub(crate) fn linear_from_srgb(value: f32) -> f32 {
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

/// The sRGB value of linear light, both 0 to 1.
pub(crate) fn srgb_from_linear(value: f32) -> f32 {
    if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 }
}

/// Scene light to display light, each channel 0 to 1: a filmic curve with a toe and a soft shoulder.
///
/// The rational fit by Narkowicz, "ACES Filmic Tone Mapping Curve" (2016).
pub(crate) fn tone_map(light: Vec3) -> Vec3 {
    let x = light.max(Vec3::ZERO);
    let mapped = x * (x * 2.51 + 0.03) / (x * (x * 2.43 + 0.59) + 0.14);
    mapped.clamp(Vec3::ZERO, Vec3::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_and_back() {
        for step in 0..=255u8 {
            let value = f32::from(step) / 255.0;
            assert!((srgb_from_linear(linear_from_srgb(value)) - value).abs() < 1e-5);
        }
    }

    #[test]
    fn more_melanin_is_darker_and_pheomelanin_is_redder() {
        let [blond, brown, red] =
            [(0.3, 0.0), (1.3, 0.0), (0.2, 1.2)].map(|(e, p)| HairColor::from_melanin(e, p));
        assert!(brown.reflectance.cmplt(blond.reflectance).all());
        assert!(red.reflectance.x / red.reflectance.z > blond.reflectance.x / blond.reflectance.z);
    }

    #[test]
    fn named_colours_are_ordered_from_black_to_white() {
        let brightness = |name: &str| HairColor::named(name).unwrap().reflectance.element_sum();
        let names = ["black", "dark-brown", "brown", "light-brown", "blond", "white"];
        assert!(names.windows(2).all(|pair| brightness(pair[0]) < brightness(pair[1])));
        assert!(HairColor::NAMES.iter().all(|name| HairColor::named(name).is_some()));
    }

    #[test]
    fn texts() {
        assert_eq!("#ff8000".parse::<HairColor>().unwrap(), HairColor::from_srgb([255, 128, 0]));
        for bad in ["mauve", "#12345", "#gg0000", "#1234é"] {
            assert!(bad.parse::<HairColor>().unwrap_err().to_string().contains("dark-brown"));
        }
    }

    #[test]
    fn tone_curve_rises_from_black_to_white() {
        let curve = |light: f32| tone_map(Vec3::splat(light)).x;
        assert_eq!(curve(0.0), 0.0);
        assert!((1..100).all(|step| curve(step as f32 * 0.05) >= curve((step - 1) as f32 * 0.05)));
        assert!(curve(20.0) > 0.99);
    }
}
