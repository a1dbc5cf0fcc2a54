//! What is left to compare of two posts beside their words: their files, and where they stand. Page lists hold posts
//! without any words, such as changes of a profile picture, and people repeat words.

use crate::{Draft, Likeness, Media};

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Image,
    Video,
    /// The network does not say.
    Unknown,
}

/// The things known of a post beside its words; one that is not known is `None`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Remains {
    /// The network's ids of its files.
    pub files: Option<Vec<String>>,
    /// The kinds of its files.
    pub kinds: Option<Vec<FileKind>>,
    /// The length of its video in milliseconds.
    pub video_ms: Option<u64>,
    /// True for a story.
    pub is_story: Option<bool>,
    /// The place within the account, for example a board.
    pub place: Option<String>,
}

/// What the remains of a post say about whether it is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trace {
    /// It has a file of ours.
    Ours,
    /// It has files, and ours has none.
    Foreign,
    /// It is of another kind.
    Other,
    /// It shows less than ours.
    Less,
    /// Nothing.
    None,
}

/// The most by which a network's length of a video may differ from ours, in milliseconds.
const LENGTH_SLACK: u64 = 1_500;

impl FileKind {
    /// Returns the kind of a file of ours.
    pub fn of(media: &Media) -> Self {
        match media {
            one if one.is_video() => Self::Video,
            one if one.is_image() => Self::Image,
            _ => Self::Unknown,
        }
    }

    fn differs(self, other: Self) -> bool {
        self != other && self != Self::Unknown && other != Self::Unknown
    }
}

impl Remains {
    /// Returns what is known of a draft, without the ids of its files.
    pub fn of(draft: &Draft) -> Self {
        let video = draft.media.first().filter(|media| media.is_video());
        Self {
            kinds: Some(draft.media.iter().map(FileKind::of).collect()),
            video_ms: video.and_then(|video| video.duration_ms),
            ..Self::default()
        }
    }

    /// Returns how well a post that a network shows matches this one, whose words match it as `words` says. Without words
    /// (`has_words` false) nothing but a file of ours makes it the same, unless `is_there`: the network says that there is
    /// such a post.
    pub fn likeness(
        &self,
        shown: &Self,
        (words, has_words): (Likeness, bool),
        is_there: bool,
    ) -> Likeness {
        match self.trace(shown) {
            Trace::Ours if words == Likeness::Different => Likeness::Similar,
            Trace::Ours => Likeness::Same,
            _ if words == Likeness::Different => Likeness::Different,
            Trace::Foreign => Likeness::Different,
            Trace::Other if !has_words => Likeness::Different,
            Trace::None if has_words => words,
            Trace::None if is_there => Likeness::Same,
            Trace::Other | Trace::Less | Trace::None => Likeness::Similar,
        }
    }

    fn trace(&self, shown: &Self) -> Trace {
        if let (Some(ours), Some(theirs)) = (&self.files, &shown.files) {
            match (ours.as_slice(), theirs.as_slice()) {
                ([], []) => {}
                ([], _) => return Trace::Foreign,
                (_, []) => return Trace::Less,
                _ if ours.iter().any(|id| theirs.contains(id)) => return Trace::Ours,
                _ => return Trace::Other,
            }
        }
        if self.stands_elsewhere(shown) {
            return Trace::Other;
        }
        let (Some(ours), Some(theirs)) = (&self.kinds, &shown.kinds) else { return Trace::None };
        if ours.is_empty() && !theirs.is_empty() {
            return Trace::Foreign;
        }
        let differ = ours.iter().zip(theirs).any(|(ours, theirs)| ours.differs(*theirs));
        if differ || theirs.len() > ours.len() {
            Trace::Other
        } else if theirs.len() < ours.len() {
            Trace::Less
        } else {
            Trace::None
        }
    }

    fn stands_elsewhere(&self, shown: &Self) -> bool {
        let other_length = |(one, other): (u64, u64)| one.abs_diff(other) > LENGTH_SLACK;
        self.video_ms.zip(shown.video_ms).is_some_and(other_length)
            || self.is_story.zip(shown.is_story).is_some_and(|(one, other)| one != other)
            || self
                .place
                .as_ref()
                .zip(shown.place.as_ref())
                .is_some_and(|(one, other)| one != other)
    }

    /// Returns true if a post that a network shows has a file of ours.
    pub fn owns(&self, shown: &Self) -> bool {
        self.trace(shown) == Trace::Ours
    }
}

#[cfg(test)]
mod tests {
    use super::{FileKind, Remains};
    use crate::Likeness;

    fn files(ids: &[&str]) -> Remains {
        let files = ids.iter().map(|id| (*id).to_owned()).collect();
        Remains { files: Some(files), ..Remains::default() }
    }

    fn kinds(kinds: &[FileKind]) -> Remains {
        Remains { kinds: Some(kinds.to_vec()), ..Remains::default() }
    }

    const NO_WORDS: (Likeness, bool) = (Likeness::Similar, false);
    const SAME_WORDS: (Likeness, bool) = (Likeness::Same, true);

    #[test]
    fn a_file_of_ours_makes_it_ours_and_other_words_make_it_a_doubt() {
        for (words, wanted) in [
            (NO_WORDS, Likeness::Same),
            (SAME_WORDS, Likeness::Same),
            ((Likeness::Similar, true), Likeness::Same),
            ((Likeness::Different, true), Likeness::Similar),
        ] {
            let told = files(&["1", "2"]).likeness(&files(&["2"]), words, false);
            assert_eq!(told, wanted, "{words:?}");
        }
    }

    #[test]
    fn files_tell_posts_apart() {
        for (ours, theirs, wordless, same_words) in [
            (&["1"][..], &["9"][..], Likeness::Different, Likeness::Similar),
            (&[], &["9"], Likeness::Different, Likeness::Different),
            (&["1"], &[], Likeness::Similar, Likeness::Similar),
            (&[], &[], Likeness::Similar, Likeness::Same),
        ] {
            let told = |words| files(ours).likeness(&files(theirs), words, false);
            assert_eq!(told(NO_WORDS), wordless, "{ours:?} {theirs:?}");
            assert_eq!(told(SAME_WORDS), same_words, "{ours:?} {theirs:?}");
        }
    }

    #[test]
    fn kinds_and_numbers_of_files_tell_posts_apart() {
        use FileKind::{Image, Unknown, Video};
        for (ours, theirs, wordless) in [
            (&[Image][..], &[Video][..], Likeness::Different),
            (&[Image], &[Image, Image], Likeness::Different),
            (&[Image, Image], &[Image], Likeness::Similar),
            (&[Image], &[], Likeness::Similar),
            (&[], &[Image], Likeness::Different),
            (&[Image, Video], &[Unknown, Video], Likeness::Similar),
        ] {
            let told = kinds(ours).likeness(&kinds(theirs), NO_WORDS, false);
            assert_eq!(told, wordless, "{ours:?} {theirs:?}");
        }
        let long = Remains { video_ms: Some(60_000), ..kinds(&[Video]) };
        let short = Remains { video_ms: Some(4_000), ..kinds(&[Video]) };
        assert_eq!(long.likeness(&short, NO_WORDS, true), Likeness::Different);
        assert_eq!(long.likeness(&short, SAME_WORDS, true), Likeness::Similar);
        let story = Remains { is_story: Some(true), ..kinds(&[Video]) };
        let reel = Remains { is_story: Some(false), ..kinds(&[Video]) };
        assert_eq!(story.likeness(&reel, NO_WORDS, true), Likeness::Different);
    }

    #[test]
    fn nothing_to_compare_is_a_doubt_unless_it_is_known_to_be_there() {
        let (ours, theirs) = (kinds(&[FileKind::Image]), kinds(&[FileKind::Image]));
        assert_eq!(ours.likeness(&theirs, NO_WORDS, false), Likeness::Similar);
        assert_eq!(ours.likeness(&theirs, NO_WORDS, true), Likeness::Same);
        let fewer = kinds(&[]);
        assert_eq!(ours.likeness(&fewer, NO_WORDS, true), Likeness::Similar);
    }
}
