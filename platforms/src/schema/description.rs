//! A network's entry in `GET /platforms`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::limits::{ContentLimits, MediaLimits};
use crate::{
    ConnectSpec, CredentialField, Evidence, Example, LimitScope, RateLimit, Setting, Shape, Spec,
    SpecSource, settings,
};

/// A platform's rules and settings.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Platform")]
pub struct Description {
    id: &'static str,
    /// The display name.
    label: &'static str,
    /// Its post types; the first is the default.
    post_types: Vec<PostTypeDescription>,
    content_limits: ContentLimits,
    media_limits: MediaLimits,
    /// The `settings` of a post.
    settings: Vec<SettingDescription>,
    /// The way an account is connected.
    connect_method: &'static str,
    /// The credentials that connect an account.
    credential_fields: Vec<FieldDescription>,
    /// The permissions that the app asks for.
    scopes: Vec<&'static str>,
    /// True if metrics of its posts can be read. Days of an account are read on some of these networks; on the others
    /// `GET /analytics/accounts` says `not_measurable`.
    analytics: bool,
    /// The helper tools that `POST /platforms/trigger` runs.
    helper_tools: &'static [&'static str],
    /// The rules for threads.
    thread: Option<ThreadDescription>,
    /// The documents it accepts.
    documents: Option<DocumentDescription>,
    /// The way in which a publishing call whose response was lost is reconciled: `key`, `handle`, `search` or `blind`.
    reconcile_class: &'static str,
    /// The call that reconciles it.
    reconcile: Option<&'static str>,
    /// The time for which tokens are valid.
    token_life: &'static str,
    /// The limits on the number of posts in a period.
    publishing_limits: Vec<RateLimitDescription>,
    /// The main source of these facts.
    source: Option<&'static str>,
    /// The sources of these facts.
    sources: Vec<SourceDescription>,
    /// The version of its API that is used.
    api_version: Option<ApiVersion>,
    /// Examples of posts that it accepts.
    examples: Vec<ExampleDescription>,
}

/// A type of post.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PlatformPostType")]
pub struct PostTypeDescription {
    name: &'static str,
    description: &'static str,
    media_limits: MediaLimits,
}

/// A setting of a post.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PlatformSetting")]
pub(super) struct SettingDescription {
    name: &'static str,
    required: bool,
    description: &'static str,
    #[serde(flatten)]
    shape: ShapeDescription,
}

/// The permitted form of a value.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "SettingShape")]
struct ShapeDescription {
    #[serde(rename = "type")]
    kind: &'static str,
    /// The least number, fewest characters or fewest items.
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<Number>,
    /// The largest number, most characters or most items.
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<Number>,
    /// One of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<&'static [&'static str]>,
    /// The permitted form of a list's items.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Box<ShapeDescription>>,
    /// The fields of an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<SettingDescription>>,
}

/// A credential.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CredentialField")]
struct FieldDescription {
    name: &'static str,
    required: bool,
    description: &'static str,
}

/// The rules for threads.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ThreadRules")]
struct ThreadDescription {
    post_type: &'static str,
    /// The field of `metadata` with the segments.
    metadata_key: &'static str,
    segment_max: usize,
    segments_max: usize,
    urls_allowed: bool,
}

/// The documents that are accepted.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DocumentRules")]
struct DocumentDescription {
    post_type: &'static str,
    types: &'static [&'static str],
    bytes_max: u64,
}

/// A limit on the number of posts in a period.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PublishingLimit")]
struct RateLimitDescription {
    /// `account`, `workspace` or `app`.
    per: &'static str,
    posts: u32,
    seconds: u64,
    /// The types of post that it counts; null: all.
    post_types: Option<&'static [&'static str]>,
}

/// The source of facts.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FactSource")]
struct SourceDescription {
    facts: &'static str,
    from: &'static str,
    /// `documented`, `observed` or `assumed`.
    evidence: &'static str,
}

/// A version of a platform's API.
#[derive(Debug, Serialize, JsonSchema)]
struct ApiVersion {
    version: &'static str,
    /// The day on which it came out, if that is known.
    released: Option<&'static str>,
    /// The day on which the platform shuts it down.
    ends: Option<&'static str>,
    /// The way in which that day is known: `announced`, `computed` from how earlier versions ended, or `none`.
    ends_basis: &'static str,
    /// The newest version that was known at `checked_at`.
    newest_known: &'static str,
    /// The day on which somebody last looked for newer versions.
    checked_at: &'static str,
}

/// An example of a post that a platform accepts.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ExamplePost")]
struct ExampleDescription {
    what: &'static str,
    #[schemars(with = "Map<String, Value>")]
    post: Value,
    /// Media types of its files.
    media_types: &'static [&'static str],
    /// The thing that the account must have first.
    needs: Option<&'static str>,
}

/// Returns the description of a network.
#[must_use]
pub fn describe(spec: &Spec) -> Description {
    let (connect_method, credential_fields, scopes) = connection(&spec.connect);
    Description {
        id: spec.id.as_str(),
        label: spec.label,
        post_types: post_types(spec),
        content_limits: ContentLimits::of(spec),
        media_limits: MediaLimits::of(&spec.media),
        settings: settings::accepted(spec.settings).map(SettingDescription::of).collect(),
        connect_method,
        credential_fields,
        scopes,
        analytics: spec.analytics,
        helper_tools: spec.tools,
        thread: spec.thread.map(|rules| ThreadDescription {
            post_type: rules.post_type,
            metadata_key: rules.metadata_key,
            segment_max: rules.segment_max,
            segments_max: rules.segments_max,
            urls_allowed: rules.urls_allowed,
        }),
        documents: spec.documents.map(|rules| DocumentDescription {
            post_type: rules.post_type,
            types: rules.types,
            bytes_max: rules.bytes_max,
        }),
        reconcile_class: spec.recovery_class.as_str(),
        reconcile: Some(spec.doc_notes.reconcile).filter(|call| !call.is_empty()),
        token_life: spec.doc_notes.tokens,
        publishing_limits: spec.rate_limits.iter().map(RateLimitDescription::of).collect(),
        source: spec.sources.first().map(|source| source.from),
        sources: spec.sources.iter().map(SourceDescription::of).collect(),
        api_version: spec.api_in_use().map(|api| ApiVersion {
            version: api.version,
            released: api.released,
            ends: api.ends,
            ends_basis: api.ends_basis.as_str(),
            newest_known: api.newest_known,
            checked_at: api.checked_at,
        }),
        examples: spec.examples.iter().map(ExampleDescription::of).collect(),
    }
}

/// Returns the post types of a network, the default first.
#[must_use]
pub fn post_types(spec: &Spec) -> Vec<PostTypeDescription> {
    let of = |kind: &crate::PostType| PostTypeDescription {
        name: kind.name,
        description: kind.doc,
        media_limits: MediaLimits::of(kind.media.as_ref().unwrap_or(&spec.media)),
    };
    spec.post_types.iter().map(of).collect()
}

/// Returns the method as the connect routes name it, the credential fields and the scopes.
fn connection(connect: &ConnectSpec) -> (&'static str, Vec<FieldDescription>, Vec<&'static str>) {
    match connect {
        ConnectSpec::Credentials(fields) => {
            let entry = |field: &CredentialField| FieldDescription {
                name: field.name,
                required: field.required,
                description: field.doc,
            };
            ("manual_credentials", fields.iter().map(entry).collect(), Vec::new())
        }
        ConnectSpec::Oauth(oauth) => {
            let scopes = oauth.permissions().map(|permission| permission.name).collect();
            ("dashboard_oauth", Vec::new(), scopes)
        }
    }
}

impl SettingDescription {
    pub(super) fn of(setting: &Setting) -> Self {
        Self {
            name: setting.name,
            required: setting.required,
            description: setting.doc,
            shape: ShapeDescription::of(&setting.shape),
        }
    }
}

impl ShapeDescription {
    fn of(shape: &Shape) -> Self {
        let plain = |kind| Self { kind, ..Self::default() };
        let counted = |kind, min: usize, max: usize| Self {
            min: Some(min.into()),
            max: Some(max.into()),
            ..plain(kind)
        };
        match shape {
            Shape::Bool => plain("boolean"),
            Shape::Text { min, max } | Shape::Id { min, max } => counted("string", *min, *max),
            Shape::Url => plain("url"),
            Shape::Choice(values) => Self { values: Some(values), ..plain("string") },
            Shape::Integer { min, max } => {
                Self { min: Some((*min).into()), max: Some((*max).into()), ..plain("integer") }
            }
            Shape::Number { min, max } => {
                Self { min: Number::from_f64(*min), max: Number::from_f64(*max), ..plain("number") }
            }
            Shape::Time => plain("timestamp"),
            Shape::List { of, min, max } => {
                Self { items: Some(Box::new(Self::of(of))), ..counted("array", *min, *max) }
            }
            Shape::Foreign => plain("object"),
            Shape::Object(fields) => {
                let fields = fields.iter().map(SettingDescription::of).collect();
                Self { fields: Some(fields), ..plain("object") }
            }
        }
    }
}

impl RateLimitDescription {
    fn of(rate_limit: &RateLimit) -> Self {
        let per = match rate_limit.scope {
            LimitScope::Account => "account",
            LimitScope::Workspace => "workspace",
            LimitScope::App => "app",
        };
        let post_types = Some(rate_limit.post_types).filter(|types| !types.is_empty());
        Self { per, posts: rate_limit.calls, seconds: rate_limit.period.as_secs(), post_types }
    }
}

impl SourceDescription {
    fn of(source: &SpecSource) -> Self {
        let evidence = match source.evidence {
            Evidence::Documented => "documented",
            Evidence::Observed => "observed",
            Evidence::Assumed => "assumed",
        };
        Self { facts: source.facts, from: source.from, evidence }
    }
}

impl ExampleDescription {
    fn of(example: &Example) -> Self {
        // The conformance suite parses every example, so each one is valid JSON.
        let post = serde_json::from_str(example.post).unwrap_or_default();
        Self { what: example.what, post, media_types: example.media, needs: example.needs }
    }
}
