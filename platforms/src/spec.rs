//! The descriptor: what a network accepts, as data that validation, discovery and documents read.

use std::time::Duration;

use crate::{
    Draft, Media, PlatformId, RateLimit, RecoveryClass,
    docs::{DocNotes, Example, SpecSource, SupportedApi},
    oauth::Oauth,
    overrides::overrides,
    text::Alterations,
    video::VideoFormat,
};

/// One network's limits, settings and ways to connect.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// The network.
    pub id: PlatformId,
    /// Name for people.
    pub label: &'static str,
    /// Scheme, host and prefix of its API; empty where each account names its own.
    pub base_url: &'static str,
    /// The way in which accounts are connected.
    pub connect: ConnectSpec,
    /// The rules for captions.
    pub caption: CaptionLimits,
    /// Longest text beside a video, in the caption's unit, if it differs.
    pub caption_max_with_video: Option<usize>,
    /// The rules for media; a post type may narrow them.
    pub media: MediaRules,
    /// Longest alt text in characters; 0 where alt text is not supported. The setting is `media_alt_texts`.
    pub alt_text_max: usize,
    /// The post types; the first is the default.
    pub post_types: &'static [PostType],
    /// The post types whose caption the network does not show: it is accepted, not measured and not published.
    pub captionless: &'static [&'static str],
    /// The settings.
    pub settings: &'static [Setting],
    /// True if posts can be labelled as made with AI (`ai_generated`).
    pub ai_label: bool,
    /// The rules for chains of posts, if the network has them.
    pub thread: Option<ThreadRules>,
    /// The rules for documents, if the network has them.
    pub documents: Option<DocumentRules>,
    /// The recovery class of most posts, for a commit whose response was lost.
    pub recovery_class: RecoveryClass,
    /// The longest time a commit call may take.
    pub commit_deadline: Duration,
    /// The longest time for which the network's lists and look-ups may not show what was just made. A post counts as
    /// absent only after two complete reads that are this far apart. Where `sources` name none it is ours: no network
    /// documents it, and a minute and a half is longer than any lag that was seen.
    pub list_lag: Duration,
    /// The changes of texts that the network is known to make; what else it shows is not what was sent. Where `sources`
    /// name none there are none but those that all networks may make.
    pub alterations: Alterations,
    /// The hours within which the network may refuse a text that the account posted before; `None` where it is not known to
    /// refuse any. The hours are ours: the vendors name none.
    pub equal_text_hours: Option<u32>,
    /// The name of a parameter that the network ignores in addresses of reads. Each look-up gets a value of its own for it,
    /// so that no cache can answer with what was there before. `None` where unknown parameters are refused, or no cache
    /// is known.
    pub ignored_parameter: Option<&'static str>,
    /// Why nobody but its author may see a post that the network calls published, where its answers do not tell: what the
    /// operator has to look at, as sentences.
    pub unseen: Option<&'static str>,
    /// The limits on posts, which all workers share. Each descriptor names the source of its numbers.
    pub rate_limits: &'static [RateLimit],
    /// The time to wait after "too many requests" if the network never says how long.
    pub default_wait: Option<Duration>,
    /// The time before its due time at which a post with media is prepared; zero when there is nothing to prepare.
    pub prepare_lead: Duration,
    /// Helper tools for `POST /platforms/trigger`.
    pub tools: &'static [&'static str],
    /// True if metrics of accounts or posts can be read.
    pub analytics: bool,
    /// The version of its API that is used, if versions expire.
    pub api: Option<SupportedApi>,
    /// Further notes for the documentation.
    pub doc_notes: DocNotes,
    /// The sources of these facts.
    pub sources: &'static [SpecSource],
    /// Posts that it accepts as they are; together they cover every post type and every setting. The API shows them,
    /// and the demo and the conformance suite publish them.
    pub examples: &'static [Example],
}

impl Spec {
    /// Returns true if the network shows the caption of this post.
    #[must_use]
    pub fn shows_caption(&self, draft: &Draft) -> bool {
        let kind = draft.post_type.as_str();
        self.thread.is_none_or(|rules| rules.post_type != kind) && !self.captionless.contains(&kind)
    }

    /// Returns the version of its API that this process uses, with the operator's choice in place of this release's.
    #[must_use]
    pub fn api_in_use(&self) -> Option<SupportedApi> {
        let api = self.api?;
        Some(overrides().version(self.id).map_or(api, |version| api.raised_to(version)))
    }

    /// Returns true if this release was tested with the version that this process uses.
    #[must_use]
    pub fn is_api_tested(&self) -> bool {
        self.api_in_use().map(|api| api.version) == self.api.map(|api| api.version)
    }

    /// Returns the defaults of most networks, which a descriptor overrides.
    #[must_use]
    pub const fn with_defaults(id: PlatformId, label: &'static str) -> Self {
        Self {
            id,
            label,
            base_url: "",
            connect: ConnectSpec::Credentials(&[]),
            caption: CaptionLimits::characters(0),
            caption_max_with_video: None,
            media: MediaRules::NONE,
            alt_text_max: 0,
            post_types: &[PostType { name: "feed", doc: "A post.", media: None }],
            captionless: &[],
            settings: &[],
            ai_label: false,
            thread: None,
            documents: None,
            recovery_class: RecoveryClass::Search,
            commit_deadline: Duration::from_secs(30),
            list_lag: Duration::from_secs(90),
            alterations: Alterations::NONE,
            equal_text_hours: None,
            ignored_parameter: None,
            unseen: None,
            rate_limits: &[],
            default_wait: None,
            prepare_lead: Duration::from_secs(15 * 60),
            tools: &[],
            analytics: false,
            api: None,
            doc_notes: DocNotes { reconcile: "", tokens: "", tested: "" },
            sources: &[],
            examples: &[],
        }
    }

    /// Returns the longest text of a post, and a phrase that says what causes the limit (" beside a video").
    #[must_use]
    pub fn caption_max(&self, draft: &Draft) -> (usize, &'static str) {
        let is_video = draft.media.iter().any(Media::is_video);
        let beside_video = self.caption_max_with_video.filter(|_| is_video);
        let beside_media = self.caption.max_with_media.filter(|_| !draft.media.is_empty());
        match (beside_video, beside_media) {
            (Some(max), _) => (max, " beside a video"),
            (None, Some(max)) => (max, " beside media"),
            (None, None) => (self.caption.max, ""),
        }
    }
}

/// The way in which an account is connected.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "a descriptor is a constant, and is read in place")]
pub enum ConnectSpec {
    /// The caller sends these fields.
    Credentials(&'static [CredentialField]),
    /// The user authorizes an app in a browser (OAuth).
    Oauth(Oauth),
}

impl ConnectSpec {
    /// Returns true if the operator must register an app with the network first. On networks of many servers, the app
    /// is registered with each server when a user connects.
    #[must_use]
    pub const fn needs_app(&self) -> bool {
        matches!(self, Self::Oauth(oauth) if oauth.instance.is_none())
    }
}

/// One key of `credentials`.
#[derive(Debug, Clone, Copy)]
pub struct CredentialField {
    /// Its name.
    pub name: &'static str,
    /// True if it is required.
    pub required: bool,
    /// Its meaning, and where to find it.
    pub doc: &'static str,
}

impl CredentialField {
    /// Creates a required field.
    #[must_use]
    pub const fn required(name: &'static str, doc: &'static str) -> Self {
        Self { name, required: true, doc }
    }

    /// Creates an optional field.
    #[must_use]
    pub const fn optional(name: &'static str, doc: &'static str) -> Self {
        Self { name, required: false, doc }
    }
}

/// Limits of the text.
#[derive(Debug, Clone, Copy)]
pub struct CaptionLimits {
    /// Longest text of a post without media, in `unit`.
    pub max: usize,
    /// Longest text beside media, if that is less.
    pub max_with_media: Option<usize>,
    /// Longest text in UTF-8 bytes, if there is such a limit too.
    pub max_bytes: Option<usize>,
    /// The network's counting function.
    pub count: fn(&str) -> usize,
    /// The unit in the plural: `characters`, `graphemes`.
    pub unit: &'static str,
}

impl CaptionLimits {
    /// Returns a limit of at most `max` characters (Unicode scalar values).
    #[must_use]
    pub const fn characters(max: usize) -> Self {
        let count = crate::text::characters;
        Self { max, max_with_media: None, max_bytes: None, count, unit: "characters" }
    }
}

/// The media that a post may have.
#[derive(Debug, Clone, Copy)]
pub struct MediaRules {
    /// Fewest files.
    pub min: usize,
    /// Most images in one post.
    pub images_max: usize,
    /// Most videos in one post.
    pub videos_max: usize,
    /// The most files in one post, of any kind.
    pub total_max: usize,
    /// True if one post may have both images and videos.
    pub mixed: bool,
    /// Image types accepted unchanged.
    pub image_types: &'static [&'static str],
    /// Video types accepted unchanged.
    pub video_types: &'static [&'static str],
    /// The video formats accepted unchanged; empty accepts any.
    pub video_forms: &'static [VideoFormat],
    /// Largest image in bytes.
    pub image_bytes_max: u64,
    /// Largest video in bytes.
    pub video_bytes_max: u64,
    /// Longest video in milliseconds.
    pub video_ms_max: Option<u64>,
    /// Further rules for dimensions and lengths.
    pub frame: FrameRules,
}

/// The allowed dimensions and lengths of images and videos. Ratios are width divided by height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameRules {
    /// The smallest and largest ratio of an image.
    pub image_ratio: Option<(f64, f64)>,
    /// The largest width of an image in pixels; a wider one is shrunk.
    pub image_width_max: Option<u32>,
    /// The smallest width of an image in pixels.
    pub image_width_min: Option<u32>,
    /// The largest sum of an image's width and height; a larger one is shrunk.
    pub image_sides_max: Option<u32>,
    /// The smallest and largest ratio of a video.
    pub video_ratio: Option<(f64, f64)>,
    /// Shortest video in milliseconds.
    pub video_ms_min: Option<u64>,
}

impl FrameRules {
    /// Accepts any dimensions.
    pub const ANY: Self = Self {
        image_ratio: None,
        image_width_max: None,
        image_width_min: None,
        image_sides_max: None,
        video_ratio: None,
        video_ms_min: None,
    };
}

impl MediaRules {
    /// Accepts no media.
    pub const NONE: Self = Self {
        min: 0,
        images_max: 0,
        videos_max: 0,
        total_max: 0,
        mixed: false,
        image_types: &[],
        video_types: &[],
        video_forms: &[],
        image_bytes_max: 0,
        video_bytes_max: 0,
        video_ms_max: None,
        frame: FrameRules::ANY,
    };
}

/// A kind of post.
#[derive(Debug, Clone, Copy)]
pub struct PostType {
    /// Its name in `post_type`.
    pub name: &'static str,
    /// Its description.
    pub doc: &'static str,
    /// Its own media rules, if they differ from the network's.
    pub media: Option<MediaRules>,
}

/// Rules of a chain of posts.
#[derive(Debug, Clone, Copy)]
pub struct ThreadRules {
    /// The post type that makes one.
    pub post_type: &'static str,
    /// Key of the segments in `metadata`.
    pub metadata_key: &'static str,
    /// Longest segment, counted like a caption.
    pub segment_max: usize,
    /// Most segments.
    pub segments_max: usize,
    /// True if a segment may contain a web address.
    pub urls_allowed: bool,
}

/// Rules of a document that is posted.
#[derive(Debug, Clone, Copy)]
pub struct DocumentRules {
    /// The post type that takes one.
    pub post_type: &'static str,
    /// Types accepted unchanged.
    pub types: &'static [&'static str],
    /// Largest document in bytes.
    pub bytes_max: u64,
}

/// One key of `settings`.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// The shape of its value.
    pub shape: Shape,
    /// True if it is required.
    pub required: bool,
    /// Its effect, with its source if that is not obvious.
    pub doc: &'static str,
}

impl Setting {
    /// Creates an optional setting.
    #[must_use]
    pub const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { name, shape, required: false, doc }
    }

    /// Creates a required setting.
    #[must_use]
    pub const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { name, shape, required: true, doc }
    }
}

/// The shape of a value.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// `true` or `false`.
    Bool,
    /// A text of `min` to `max` characters.
    Text {
        /// Fewest characters.
        min: usize,
        /// Most characters.
        max: usize,
    },
    /// An identifier of `min` to `max` characters. Invisible characters are removed.
    Id {
        /// Fewest characters.
        min: usize,
        /// Most characters.
        max: usize,
    },
    /// An http or https address. Invisible characters are removed.
    Url,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// A whole number.
    Integer {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A number, whole or not.
    Number {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A time in RFC 3339 with an offset.
    Time,
    /// A list of `min` to `max` values of one shape.
    List {
        /// Shape of each.
        of: &'static Shape,
        /// Fewest.
        min: usize,
        /// Most.
        max: usize,
    },
    /// An object defined by the network, which is passed on unchanged.
    Foreign,
    /// An object with these keys and no other.
    Object(&'static [Setting]),
}
