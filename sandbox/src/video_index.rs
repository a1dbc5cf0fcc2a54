//! Reads the properties of an MP4 or MOV file from its index, as networks do before they transcode (ISO 14496-12).

/// The largest index that is read, in bytes.
const INDEX_MAX: u64 = 4 << 20;
/// The deepest nesting of boxes that is read.
const DEPTH: usize = 8;

/// The video formats that a network accepts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VideoRequirements {
    /// The names of sample entries.
    pub codecs: &'static [&'static [u8; 4]],
    /// Fewest and most frames per second.
    pub frames: (f64, f64),
    /// True if the index must come first.
    pub index_first: bool,
}

/// The tolerance of frame rates, which an index rounds: 24 may be 23.976.
const RATE_SLACK: f64 = 0.1;

/// H.264 alone.
pub(crate) const H264: VideoRequirements = VideoRequirements {
    codecs: &[b"avc1", b"avc3"],
    frames: (0.0, f64::INFINITY),
    index_first: false,
};
/// H.264 and HEVC.
pub(crate) const H264_OR_HEVC: VideoRequirements =
    VideoRequirements { codecs: &[b"avc1", b"avc3", b"hvc1", b"hev1"], ..H264 };
/// H.264, HEVC, VP8 and VP9.
pub(crate) const BROWSER_FORMATS: VideoRequirements =
    VideoRequirements { codecs: &[b"avc1", b"avc3", b"hvc1", b"hev1", b"vp08", b"vp09"], ..H264 };
/// H.264 or HEVC at 23 to 60 frames a second, from a file that plays while it loads.
pub(crate) const STREAMABLE: VideoRequirements =
    VideoRequirements { index_first: true, frames: (23.0, 60.0), ..H264_OR_HEVC };

/// The properties that an index contains.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct VideoProperties {
    /// The name of the video's sample entry.
    codec: [u8; 4],
    /// The number of the H.264 profile.
    profile: Option<u8>,
    /// True for more than 8 bits or a subsampling other than 4:2:0, as HEVC and VP9 declare it.
    rich: bool,
    /// Frames a second.
    rate: Option<f64>,
    /// The number of the transfer characteristics (ITU-T H.273).
    transfer: Option<u16>,
    /// True if the audio is AAC; `None` without audio.
    aac: Option<bool>,
    index_first: bool,
    /// Width and height in pixels, as it is shown.
    pub size: Option<(u32, u32)>,
    pub duration_ms: Option<u64>,
}

impl VideoProperties {
    /// Returns true if the video meets these requirements.
    pub fn meets(&self, asks: VideoRequirements) -> bool {
        // Baseline, Main, Extended, High: 4:2:0 in 8 bits. 16 is PQ and 18 HLG.
        let plain = self.profile.is_none_or(|profile| matches!(profile, 66 | 77 | 88 | 100));
        let ordinary = !self.rich && !matches!(self.transfer, Some(16 | 18));
        let (fewest, most) = (asks.frames.0 - RATE_SLACK, asks.frames.1 + RATE_SLACK);
        let timely = self.rate.is_none_or(|rate| (fewest..=most).contains(&rate));
        let codec = asks.codecs.iter().any(|codec| **codec == self.codec);
        codec
            && plain
            && ordinary
            && timely
            && self.aac != Some(false)
            && (self.index_first || !asks.index_first)
    }
}

/// Collects the index of a file that arrives in pieces.
#[derive(Debug, Default)]
pub(crate) struct IndexReader {
    head: Vec<u8>,
    /// The remaining bytes of the current box.
    left: u64,
    inside: bool,
    moov: Vec<u8>,
    /// True if frames came before the index.
    late: bool,
    broken: bool,
}

impl IndexReader {
    /// Adds the next bytes of the file.
    pub fn add(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() && !self.broken {
            if self.left == 0 {
                let wanted = if self.head.starts_with(&[0, 0, 0, 1]) { 16 } else { 8 };
                let now = piece.len().min(wanted - self.head.len());
                self.head.extend_from_slice(&piece[..now]);
                piece = &piece[now..];
                self.open();
                continue;
            }
            let now = piece.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
            if self.inside {
                self.moov.extend_from_slice(&piece[..now]);
            }
            self.left -= now as u64;
            piece = &piece[now..];
        }
    }

    fn open(&mut self) {
        let Some((size, name)) = self.head.get(..4).zip(self.head.get(4..8)) else { return };
        let short = size.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let size = match (short, self.head.get(8..16)) {
            (0, _) => u64::MAX,
            (1, None) => return,
            (1, Some(long)) => long.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
            (short, _) => short,
        };
        self.late |= name == b"mdat" && self.moov.is_empty();
        self.inside = name == b"moov" && self.moov.is_empty();
        let left = size.checked_sub(self.head.len() as u64);
        self.broken = left.is_none_or(|left| self.inside && left > INDEX_MAX);
        self.left = left.unwrap_or(0);
        self.head.clear();
    }

    /// Returns the properties in the index; `None` if there is no readable one.
    pub fn read(self) -> Option<VideoProperties> {
        let mut film = VideoProperties { index_first: !self.late, ..VideoProperties::default() };
        let mut found = false;
        for track in
            children(&self.moov).filter(|(name, _)| name == b"trak").map(|(_, track)| track)
        {
            let kind = descend(track, &[b"mdia", b"hdlr"]).and_then(|handler| handler.get(8..12));
            let entries =
                descend(track, &[b"mdia", b"minf", b"stbl", b"stsd"]).and_then(|all| all.get(8..));
            let Some((name, entry)) = entries.and_then(|entries| children(entries).next()) else {
                continue;
            };
            match kind {
                Some(b"vide") if !found => {
                    found = true;
                    film.codec = name;
                    film.rate = rate(track);
                    film.duration_ms = duration_ms(track);
                    film.size = size(track, entry);
                    picture(entry.get(78..).unwrap_or_default(), &mut film);
                }
                Some(b"soun") if film.aac.is_none() => {
                    film.aac = Some(name == *b"mp4a" && is_aac(entry))
                }
                _ => {}
            }
        }
        found.then_some(film)
    }
}

fn picture(boxes: &[u8], film: &mut VideoProperties) {
    for (name, content) in children(boxes) {
        match (&name, content) {
            (b"avcC", [_, profile, ..]) => film.profile = Some(*profile),
            (b"hvcC", content) => {
                let [chroma, depth] = [16, 17].map(|at| content.get(at).copied().unwrap_or(0));
                film.rich = chroma & 3 > 1 || depth & 7 > 0;
            }
            // After version and flags: profile, level, then depth and subsampling in one byte. 0 and 1 are 4:2:0.
            (b"vpcC", [_, _, _, _, _, _, form, ..]) => {
                film.rich = form >> 4 > 8 || form >> 1 & 7 > 1;
            }
            (b"colr", [b'n', b'c', b'l', _, _, _, high, low, ..]) => {
                film.transfer = Some(u16::from_be_bytes([*high, *low]));
            }
            _ => {}
        }
    }
}

/// Returns the units a second of a track's times, and its length in them.
fn times(track: &[u8]) -> Option<(f64, f64)> {
    let header = descend(track, &[b"mdia", b"mdhd"])?;
    Some(match header.first()? {
        0 => (number(header.get(12..16))?, number(header.get(16..20))?),
        _ => (number(header.get(20..24))?, number(header.get(24..32))?),
    })
}

fn number(bytes: Option<&[u8]>) -> Option<f64> {
    Some(bytes?.iter().fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte)) as f64)
}

/// Returns the frames of a track divided by its length.
fn rate(track: &[u8]) -> Option<f64> {
    let (scale, length) = times(track)?;
    let sizes = descend(track, &[b"mdia", b"minf", b"stbl", b"stsz"])?;
    let frames = number(sizes.get(8..12))?;
    // A fragmented file has an index without frames.
    (frames > 0.0 && length > 0.0).then(|| frames * scale / length)
}

fn duration_ms(track: &[u8]) -> Option<u64> {
    let (scale, length) = times(track)?;
    (scale > 0.0 && length > 0.0).then(|| (length * 1_000.0 / scale).round() as u64)
}

/// Returns the width and height of a track, turned as its header says.
fn size(track: &[u8], entry: &[u8]) -> Option<(u32, u32)> {
    let side = |at: usize| Some(u32::from(u16::from_be_bytes(*entry.get(at..)?.first_chunk()?)));
    let (width, height) = (side(24)?, side(26)?);
    let header = descend(track, &[b"tkhd"]).unwrap_or_default();
    let matrix = if header.first() == Some(&1) { 52 } else { 40 };
    let cell = |at: usize| number(header.get(matrix + at..matrix + at + 4));
    let is_turned = cell(0) == Some(0.0) && cell(4).is_some_and(|cell| cell != 0.0);
    let size = if is_turned { (height, width) } else { (width, height) };
    (width > 0 && height > 0).then_some(size)
}

/// Looks for the object type in the descriptors (ISO 14496-1, 7.2.6): 0x40 and 0x66 to 0x68 are AAC.
fn is_aac(entry: &[u8]) -> bool {
    let Some(at) = entry.windows(4).position(|name| name == b"esds") else { return true };
    let mut rest = entry.get(at + 8..).unwrap_or_default();
    for _ in 0..DEPTH {
        let [tag, after @ ..] = rest else { return true };
        let length = after.iter().take_while(|byte| **byte & 0x80 != 0).count() + 1;
        let content = after.get(length..).unwrap_or_default();
        match (tag, content) {
            (0x03, content) => rest = content.get(3..).unwrap_or_default(),
            (0x04, [kind, ..]) => return matches!(kind, 0x40 | 0x66..=0x68),
            _ => return true,
        }
    }
    true
}

fn descend<'a>(mut bytes: &'a [u8], path: &[&[u8; 4]]) -> Option<&'a [u8]> {
    for wanted in path.iter().take(DEPTH) {
        bytes = children(bytes).find(|(name, _)| name == *wanted)?.1;
    }
    Some(bytes)
}

/// Returns the boxes in a box, with their content.
fn children(mut bytes: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    std::iter::from_fn(move || {
        let size = u32::from_be_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
        let name = bytes.get(4..8)?.try_into().ok()?;
        let content = bytes.get(8..size)?;
        bytes = &bytes[size..];
        Some((name, content))
    })
}

#[cfg(test)]
mod tests {
    use super::{
        BROWSER_FORMATS, H264, H264_OR_HEVC, IndexReader, STREAMABLE, VideoProperties,
        VideoRequirements, size,
    };

    fn boxed(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
        let size = u32::try_from(content.len() + 8).unwrap_or(0).to_be_bytes();
        [&size[..], name, content].concat()
    }

    fn track(kind: &[u8; 4], entry: &[u8; 4], rest: &[u8]) -> Vec<u8> {
        let stsd = boxed(b"stsd", &[&[0, 0, 0, 0, 0, 0, 0, 1][..], &boxed(entry, rest)].concat());
        let minf = boxed(b"minf", &boxed(b"stbl", &stsd));
        let hdlr = boxed(b"hdlr", &[&[0; 8][..], kind, &[0; 12]].concat());
        boxed(b"trak", &boxed(b"mdia", &[hdlr, minf].concat()))
    }

    /// Returns an H.264 video with this profile and transfer function, and audio of this object type.
    fn film(profile: u8, transfer: u8, object: u8, first: bool) -> Option<VideoProperties> {
        let avcc = boxed(b"avcC", &[1, profile, 0, 30]);
        let colr = boxed(b"colr", &[b'n', b'c', b'l', b'x', 0, 1, 0, transfer, 0, 1, 0]);
        let picture = track(b"vide", b"avc1", &[&[0; 78][..], &avcc, &colr].concat());
        let esds = boxed(b"esds", &[0, 0, 0, 0, 0x03, 0x80, 25, 0, 1, 0, 0x04, 17, object, 0x15]);
        let sound = track(b"soun", b"mp4a", &[&[0; 28][..], &esds].concat());
        let moov = boxed(b"moov", &[picture, sound].concat());
        let mdat = boxed(b"mdat", &[7; 100]);
        let whole = if first { [moov, mdat].concat() } else { [mdat, moov].concat() };
        let mut index = IndexReader::default();
        for piece in [boxed(b"ftyp", b"isom"), whole].concat().chunks(3) {
            index.add(piece);
        }
        index.read()
    }

    /// Returns a video without audio, with this sample entry and frame rate.
    fn plain(entry: &[u8; 4], settings: &[u8], rate: u32) -> Option<VideoProperties> {
        let number = |number: u32| number.to_be_bytes();
        let entry = boxed(entry, &[&[0; 78][..], settings].concat());
        let stsd = boxed(b"stsd", &[&[0, 0, 0, 0, 0, 0, 0, 1][..], &entry].concat());
        let stsz = boxed(b"stsz", &[[0; 4], [0; 4], number(rate * 10)].concat());
        let minf = boxed(b"minf", &boxed(b"stbl", &[stsd, stsz].concat()));
        let hdlr = boxed(b"hdlr", &[&[0; 8][..], b"vide", &[0; 12]].concat());
        let times = [[0; 4], [0; 4], [0; 4], number(90_000), number(900_000), [0; 4]];
        let mdhd = boxed(b"mdhd", &times.concat());
        let trak = boxed(b"trak", &boxed(b"mdia", &[mdhd, hdlr, minf].concat()));
        let mut index = IndexReader::default();
        index.add(&boxed(b"moov", &trak));
        index.read()
    }

    #[test]
    fn depth_sampling_and_frames_are_read_from_the_index() {
        let plays = |film: Option<VideoProperties>, asks: VideoRequirements| {
            film.is_some_and(|film| film.meets(asks))
        };
        let hevc = |chroma: u8, depth: u8| {
            let mut settings = [0; 23];
            (settings[16], settings[17]) = (0xfc | chroma, 0xf8 | depth);
            plain(b"hvc1", &boxed(b"hvcC", &settings), 30)
        };
        assert!(plays(hevc(1, 0), H264_OR_HEVC) && !plays(hevc(1, 0), H264));
        assert!(!plays(hevc(1, 2), H264_OR_HEVC) && !plays(hevc(3, 0), H264_OR_HEVC));
        let vp9 = |form: u8| {
            plain(b"vp09", &boxed(b"vpcC", &[1, 0, 0, 0, 0, 10, form, 2, 2, 2, 0, 0]), 30)
        };
        assert!(plays(vp9(0x82), BROWSER_FORMATS) && !plays(vp9(0x82), H264_OR_HEVC));
        assert!(!plays(vp9(0xa2), BROWSER_FORMATS) && !plays(vp9(0x86), BROWSER_FORMATS));
        for (rate, right) in [(12, false), (23, true), (60, true), (61, false)] {
            assert_eq!(plays(plain(b"avc1", &[], rate), STREAMABLE), right, "{rate}");
            assert!(plays(plain(b"avc1", &[], rate), H264), "{rate}");
        }
    }

    #[test]
    fn the_length_and_the_size_are_read_from_the_index() {
        let film = plain(b"avc1", &[], 30).unwrap_or_default();
        // Without a size in the entry none is known.
        assert_eq!((film.duration_ms, film.size), (Some(10_000), None));
        let mut entry = [0; 78];
        entry[24..28].copy_from_slice(&[5, 0, 2, 0xd0]);
        let header = |turned: bool| {
            let mut header = [0; 84];
            header[if turned { 45 } else { 41 }] = 1;
            boxed(b"tkhd", &header)
        };
        for (turned, wanted) in [(false, (1_280, 720)), (true, (720, 1_280))] {
            assert_eq!(size(&header(turned), &entry), Some(wanted));
        }
    }

    #[test]
    fn a_film_is_judged_by_its_index() {
        let plays = |film: Option<VideoProperties>, asks: VideoRequirements| {
            film.is_some_and(|film| film.meets(asks))
        };
        assert!(plays(film(100, 1, 0x40, true), H264));
        for refused in
            [film(244, 1, 0x40, true), film(100, 18, 0x40, true), film(100, 1, 0x6b, true)]
        {
            assert!(refused.is_some() && !plays(refused, H264));
        }
        assert!(plays(film(100, 1, 0x40, false), H264));
        assert!(!plays(film(100, 1, 0x40, false), STREAMABLE));
        assert!(plays(film(100, 1, 0x40, true), STREAMABLE));
        let mut none = IndexReader::default();
        none.add(&[0, 0, 0, 0]);
        assert_eq!(none.read(), None);
    }
}
