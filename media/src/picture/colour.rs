//! Converts colours of any kind to sRGB.

use std::sync::Arc;

use moxcms::{
    CicpColorPrimaries, CicpProfile, ColorProfile, DataColorSpace, Layout, MatrixCoefficients,
    ToneReprCurve, TransferCharacteristics, Transform8BitExecutor, TransformOptions,
};

use super::marks::Space;

/// Steps of each channel at which a space is compared with sRGB.
const STEPS: [u8; 5] = [0, 64, 128, 192, 255];
/// The difference from a number in sRGB that still counts as the same.
const SAME: u8 = 3;

/// Turns rows of RGBA of another colour space into sRGB.
pub(crate) struct ToSrgb {
    transform: Arc<Transform8BitExecutor>,
    is_gray: bool,
    lights: Vec<u8>,
}

impl ToSrgb {
    /// The way from this space. `None` if its numbers are those of sRGB, or if nothing can be made of it.
    pub fn from(space: &Space) -> Option<Self> {
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

    /// Converts a row of RGBA in place; what is transparent stays so.
    pub fn convert(&mut self, row: &mut [u8]) {
        self.lights.clear();
        if self.is_gray {
            self.lights.extend(row.iter().step_by(4));
        } else {
            self.lights.extend_from_slice(row);
        }
        let alphas: Vec<u8> = row.iter().skip(3).step_by(4).copied().collect();
        // Only a row of the wrong length is refused.
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
        before.iter().zip(&after).any(|(before, after)| before.abs_diff(*after) > SAME)
    }
}

fn profile(space: &Space) -> Option<ColorProfile> {
    match space {
        Space::Icc(bytes) => ColorProfile::new_from_slice(bytes).ok(),
        Space::Codes(primaries, transfer) => {
            let codes = CicpProfile {
                color_primaries: CicpColorPrimaries::try_from(*primaries).ok()?,
                transfer_characteristics: TransferCharacteristics::try_from(*transfer).ok()?,
                matrix_coefficients: MatrixCoefficients::Identity,
                full_range: true,
            };
            Some(ColorProfile::new_from_cicp(codes))
        }
        Space::Gamma(gamma) => {
            // Less than a tenth or more than ten is no gamma that anybody meant.
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
