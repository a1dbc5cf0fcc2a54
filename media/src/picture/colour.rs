//! Converts colours of any colour space to sRGB.

use std::sync::Arc;

use moxcms::{
    CicpColorPrimaries, CicpProfile, ColorProfile, DataColorSpace, Layout, MatrixCoefficients,
    ToneReprCurve, TransferCharacteristics, Transform8BitExecutor, TransformOptions,
};

use super::marks::ColourSpace;

/// The values of each channel at which a colour space is compared with sRGB.
const STEPS: [u8; 5] = [0, 64, 128, 192, 255];
/// The largest difference from an sRGB value that counts as equal.
const TOLERANCE: u8 = 3;

/// Converts rows of RGBA from another colour space to sRGB.
pub(crate) struct ToSrgb {
    transform: Arc<Transform8BitExecutor>,
    is_gray: bool,
    lights: Vec<u8>,
}

impl ToSrgb {
    /// Creates a converter from this colour space. Returns `None` if it equals sRGB or cannot be used.
    pub fn from(space: &ColourSpace) -> Option<Self> {
        let profile = profile(space)?;
        let is_gray = match profile.color_space {
            DataColorSpace::Rgb => false,
            DataColorSpace::Gray => true,
            _ => return None,
        };
        let layout = if is_gray { Layout::Gray } else { Layout::Rgba };
        let (srgb, usual) = (ColorProfile::new_srgb(), TransformOptions::default());
        let transform = profile.create_transform_8bit(layout, &srgb, Layout::Rgba, usual).ok()?;
        let mut way = Self { transform, is_gray, lights: Vec::new() };
        way.changes_something().then_some(way)
    }

    /// Converts a row of RGBA in place. The alpha channel is unchanged.
    pub fn convert(&mut self, row: &mut [u8]) {
        self.lights.clear();
        if self.is_gray {
            self.lights.extend(row.iter().step_by(4));
        } else {
            self.lights.extend_from_slice(row);
        }
        let alphas: Vec<u8> = row.iter().skip(3).step_by(4).copied().collect();
        // Fails only for a row of the wrong length.
        let _ = self.transform.transform(&self.lights, row);
        for (pixel, alpha) in row.chunks_exact_mut(4).zip(alphas) {
            pixel[3] = alpha;
        }
    }

    fn changes_something(&mut self) -> bool {
        let mut before = Vec::new();
        for red in STEPS {
            for green in STEPS {
                for blue in STEPS {
                    let shown = if self.is_gray { [red, red, red] } else { [red, green, blue] };
                    before.extend(shown);
                    before.push(255);
                }
            }
        }
        let mut after = before.clone();
        self.convert(&mut after);
        before.iter().zip(&after).any(|(before, after)| before.abs_diff(*after) > TOLERANCE)
    }
}

fn profile(space: &ColourSpace) -> Option<ColorProfile> {
    match space {
        ColourSpace::Icc(bytes) => ColorProfile::new_from_slice(bytes).ok(),
        ColourSpace::Codes(primaries, transfer) => {
            let codes = CicpProfile {
                color_primaries: CicpColorPrimaries::try_from(*primaries).ok()?,
                transfer_characteristics: TransferCharacteristics::try_from(*transfer).ok()?,
                matrix_coefficients: MatrixCoefficients::Identity,
                full_range: true,
            };
            Some(ColorProfile::new_from_cicp(codes))
        }
        ColourSpace::Gamma(gamma) => {
            // A gamma below 0.1 or above 10 is certainly a mistake.
            let gamma = (10_000..=1_000_000).contains(gamma).then_some(*gamma)?;
            let curve = Some(ToneReprCurve::Parametric(vec![100_000.0 / gamma as f32]));
            let mut profile = ColorProfile::new_srgb();
            (profile.red_trc, profile.green_trc) = (curve.clone(), curve.clone());
            profile.blue_trc = curve;
            profile.cicp = None;
            Some(profile)
        }
    }
}
