//! Documents of what a network accepts: the JSON Schema of its `settings`, and its entry in `GET /platforms`.

use serde_json::{Map, Value, json};

use crate::{
    Connect, Evidence, Example, MediaRules, Per, RateLimit, Setting, Shape, Source, Spec,
    VideoForm, settings,
};

/// JSON Schema (2020-12) of `settings`.
#[must_use]
pub fn settings_schema(spec: &Spec) -> Value {
    let mut schema = object_schema(settings::known(spec.settings));
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!(format!("Settings of a post on {}", spec.label)));
    Value::Object(schema)
}

fn object_schema<'a>(settings: impl Iterator<Item = &'a Setting>) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for setting in settings {
        let mut schema = shape_schema(&setting.shape);
        schema.insert("description".into(), json!(setting.doc));
        properties.insert(setting.name.into(), Value::Object(schema));
        if setting.required {
            required.push(setting.name);
        }
    }
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(properties));
    schema.insert("required".into(), json!(required));
    schema.insert("additionalProperties".into(), json!(false));
    schema
}

fn shape_schema(shape: &Shape) -> Map<String, Value> {
    let schema = match shape {
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Text { min, max } | Shape::Id { min, max } => {
            json!({"type": "string", "minLength": min, "maxLength": max})
        }
        Shape::Url => {
            json!({"type": "string", "format": "uri", "pattern": "^[hH][tT][tT][pP][sS]?://"})
        }
        Shape::Choice(values) => json!({"type": "string", "enum": values}),
        Shape::Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Shape::Number { min, max } => json!({"type": "number", "minimum": min, "maximum": max}),
        Shape::Time => json!({"type": "string", "format": "date-time"}),
        Shape::List { of, min, max } => {
            json!({"type": "array", "items": shape_schema(of), "minItems": min, "maxItems": max})
        }
        Shape::Foreign => json!({"type": "object"}),
        Shape::Object(fields) => Value::Object(object_schema(fields.iter())),
    };
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// A network's entry in `GET /platforms`.
#[must_use]
pub fn describe(spec: &Spec) -> Value {
    let post_types = spec.post_types.iter().map(|kind| {
        let media = kind.media.as_ref().unwrap_or(&spec.media);
        json!({"name": kind.name, "description": kind.doc, "media_limits": media_limits(media)})
    });
    let thread = spec.thread.map(|rules| {
        json!({
            "post_type": rules.post_type,
            "metadata_key": rules.metadata_key,
            "segment_max": rules.segment_max,
            "segments_max": rules.segments_max,
            "urls_allowed": rules.urls_allowed,
        })
    });
    let documents = spec.documents.map(|rules| {
        json!({"post_type": rules.post_type, "types": rules.types, "bytes_max": rules.bytes_max})
    });
    let (method, fields, scopes) = connection(&spec.connect);
    json!({
        "id": spec.id.as_str(),
        "label": spec.label,
        "post_types": post_types.collect::<Vec<_>>(),
        "content_limits": content_limits(spec),
        "media_limits": media_limits(&spec.media),
        "settings": settings::known(spec.settings).map(setting_entry).collect::<Vec<_>>(),
        "connect_method": method,
        "credential_fields": fields,
        "scopes": scopes,
        "analytics": spec.analytics,
        "helper_tools": spec.helpers,
        "thread": thread,
        "documents": documents,
        "reconcile_class": spec.class.as_str(),
        "reconcile": Some(spec.about.reconcile).filter(|call| !call.is_empty()),
        "token_life": spec.about.tokens,
        "publishing_limits": spec.rate_limits.iter().map(pace_entry).collect::<Vec<_>>(),
        "source": spec.sources.first().map(|source| source.from),
        "sources": spec.sources.iter().map(source_entry).collect::<Vec<_>>(),
        "api_version": spec.api.map(|api| json!({"version": api.version, "ends": api.ends})),
        "examples": spec.examples.iter().map(example_entry).collect::<Vec<_>>(),
    })
}

fn pace_entry(rate_limit: &RateLimit) -> Value {
    let per = match rate_limit.per {
        Per::Account => "account",
        Per::Workspace => "workspace",
        Per::App => "app",
    };
    let of =
        if rate_limit.post_types.is_empty() { json!(null) } else { json!(rate_limit.post_types) };
    json!({"per": per, "posts": rate_limit.calls, "seconds": rate_limit.span.as_secs(), "post_types": of})
}

fn source_entry(source: &Source) -> Value {
    let evidence = match source.evidence {
        Evidence::Documented => "documented",
        Evidence::Observed => "observed",
        Evidence::Assumed => "assumed",
    };
    json!({"facts": source.facts, "from": source.from, "evidence": evidence})
}

fn example_entry(example: &Example) -> Value {
    // The conformance suite reads every example; one that is no JSON does not get past it.
    let post: Value = serde_json::from_str(example.post).unwrap_or_default();
    json!({"what": example.what, "post": post, "media_types": example.media, "needs": example.needs})
}

/// Returns the limits of texts for discovery.
#[must_use]
pub fn content_limits(spec: &Spec) -> Value {
    json!({
        "caption_max": spec.caption.max,
        "caption_max_with_media": spec.caption.max_with_media.unwrap_or(spec.caption.max),
        "caption_max_with_video": spec.caption_max_with_video.or(spec.caption.max_with_media).unwrap_or(spec.caption.max),
        "caption_max_bytes": spec.caption.max_bytes,
        "unit": spec.caption.unit,
        "alt_text_max": spec.alt_text_max,
    })
}

/// Returns the limits of media for discovery.
#[must_use]
pub fn media_limits(rules: &MediaRules) -> Value {
    json!({
        "min": rules.min,
        "total_max": rules.total_max,
        "images_max": rules.images_max,
        "videos_max": rules.videos_max,
        "mixed": rules.mixed,
        "image_types": rules.image_types,
        "video_types": rules.video_types,
        "video_forms": rules.video_forms.iter().map(video_form).collect::<Vec<_>>(),
        "image_bytes_max": rules.image_bytes_max,
        "video_bytes_max": rules.video_bytes_max,
        "video_duration_ms_max": rules.video_ms_max,
        "video_duration_ms_min": rules.frame.video_ms_min,
        "video_ratio": rules.frame.video_ratio,
        "image_ratio": rules.frame.image_ratio,
        "image_width_min": rules.frame.image_width_min,
        "image_width_max": rules.frame.image_width_max,
    })
}

fn video_form(form: &VideoForm) -> Value {
    json!({
        "types": form.types,
        "video_codecs": form.codecs,
        "video_profiles": form.profiles,
        "pixel_formats": form.pixels,
        "audio_codecs": form.sounds,
        "audio_profiles": form.sound_profiles,
        "audio_channels_max": form.channels_max,
        "frame_rate": [form.frame_rate.0, form.frame_rate.1],
        "width_max": form.width_max,
        "bit_rate_max": form.bit_rate_max,
        "faststart": form.faststart,
    })
}

/// The method as the connect routes name it, the credential fields and the scopes.
fn connection(connect: &Connect) -> (&'static str, Vec<Value>, Vec<&'static str>) {
    match connect {
        Connect::Credentials(fields) => {
            let entry = |field: &crate::CredentialField| json!({"name": field.name, "required": field.required, "description": field.doc});
            ("manual_credentials", fields.iter().map(entry).collect(), Vec::new())
        }
        Connect::Oauth(oauth) => {
            let scopes = oauth.permissions.iter().map(|permission| permission.name).collect();
            ("dashboard_oauth", Vec::new(), scopes)
        }
    }
}

fn setting_entry(setting: &Setting) -> Value {
    let mut entry = shape_entry(&setting.shape);
    entry.insert("name".into(), json!(setting.name));
    entry.insert("required".into(), json!(setting.required));
    entry.insert("description".into(), json!(setting.doc));
    Value::Object(entry)
}

fn shape_entry(shape: &Shape) -> Map<String, Value> {
    let entry = match shape {
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Text { min, max } | Shape::Id { min, max } => {
            json!({"type": "string", "min": min, "max": max})
        }
        Shape::Url => json!({"type": "url"}),
        Shape::Choice(values) => json!({"type": "string", "values": values}),
        Shape::Integer { min, max } => json!({"type": "integer", "min": min, "max": max}),
        Shape::Number { min, max } => json!({"type": "number", "min": min, "max": max}),
        Shape::Time => json!({"type": "timestamp"}),
        Shape::List { of, min, max } => {
            json!({"type": "array", "items": shape_entry(of), "min": min, "max": max})
        }
        Shape::Foreign => json!({"type": "object"}),
        Shape::Object(fields) => {
            json!({"type": "object", "fields": fields.iter().map(setting_entry).collect::<Vec<_>>()})
        }
    };
    match entry {
        Value::Object(entry) => entry,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests;
