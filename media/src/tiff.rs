//! Reads TIFF structures, the format of Exif data.

/// The Exif tag of the orientation (CIPA DC-008, 4.6.4).
const ORIENTATION: u16 = 0x0112;

/// A TIFF structure, the format of Exif data.
pub(crate) struct Tiff<'a> {
    bytes: &'a [u8],
    little: bool,
}

impl<'a> Tiff<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Option<Self> {
        let little = match bytes.get(..4)? {
            b"II*\0" => true,
            b"MM\0*" => false,
            _ => return None,
        };
        Some(Self { bytes, little })
    }

    /// Returns the orientation from the first directory. An entry has 12 bytes: tag, type, count and value.
    pub(crate) fn orientation(&self) -> Option<u16> {
        let directory = usize::try_from(self.long(4)?).ok()?;
        let entries = usize::from(self.short(directory)?);
        let at = (0..entries)
            .map(|entry| directory.saturating_add(2 + entry * 12))
            .take_while(|at| *at < self.bytes.len())
            .find(|at| self.short(*at) == Some(ORIENTATION))?;
        self.short(at + 8)
    }

    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn short(&self, at: usize) -> Option<u16> {
        let bytes = self.bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if self.little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    pub(crate) fn long(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }
}
