//! Conversion profiles: the requirements of a platform that a file must fit.

use std::{fmt, str::FromStr};

/// The type of the converted file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// A picture in which transparent parts become white.
    Jpeg,
    /// A picture that may have transparent parts.
    Png,
    /// A video with H.264 and AAC, and the index first.
    Mp4,
}

impl Target {
    const ALL: [(Self, &'static str, &'static str); 3] = [
        (Self::Jpeg, "jpeg", "image/jpeg"),
        (Self::Png, "png", "image/png"),
        (Self::Mp4, "mp4", "video/mp4"),
    ];

    /// Returns the media type.
    #[must_use]
    pub fn mime(self) -> &'static str {
        Self::ALL.into_iter().find(|(target, ..)| *target == self).map_or("", |(_, _, mime)| mime)
    }

    /// Returns the target with this media type.
    #[must_use]
    pub fn of_mime(mime: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, _, known)| *known == mime).map(|(target, ..)| target)
    }
}

/// A conversion profile. Its text form (`jpeg-8000000-1440`) identifies the variant; there is one variant for each
/// asset
/// and profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Profile {
    /// The type of the converted file.
    pub target: Target,
    /// The largest size in bytes.
    pub bytes_max: u64,
    /// The largest width in pixels; 0 keeps the width.
    pub width_max: u32,
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Target::ALL.into_iter().find(|(target, ..)| *target == self.target);
        let name = known.map_or("", |(_, name, _)| name);
        write!(f, "{name}-{}-{}", self.bytes_max, self.width_max)
    }
}

/// The error for a text that is not a profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} names no conversion")]
pub struct UnknownProfile(String);

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<Self, UnknownProfile> {
        let parsed = || {
            let mut parts = text.split('-');
            let name = parts.next()?;
            let (target, ..) = Target::ALL.into_iter().find(|(_, known, _)| *known == name)?;
            let bytes_max = parts.next()?.parse().ok()?;
            let width_max = parts.next()?.parse().ok()?;
            parts.next().is_none().then_some(Self { target, bytes_max, width_max })
        };
        parsed().ok_or_else(|| UnknownProfile(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Profile, Target};

    #[test]
    fn a_name_reads_back_to_its_profile() {
        for target in [Target::Jpeg, Target::Png, Target::Mp4] {
            let profile = Profile { target, bytes_max: 8_000_000, width_max: 1_440 };
            assert_eq!(profile.to_string().parse(), Ok(profile));
            assert_eq!(Target::of_mime(target.mime()), Some(target));
        }
        for wrong in ["", "jpeg", "jpeg-1", "bmp-1-1", "jpeg-1-1-1", "jpeg--1-1"] {
            assert!(wrong.parse::<Profile>().is_err(), "{wrong}");
        }
    }
}
