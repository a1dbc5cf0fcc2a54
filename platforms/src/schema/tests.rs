use chrono::NaiveDate;
use serde_json::json;

use super::{describe, description::SettingDescription, settings_schema, shape_schema};
use crate::{EndsBasis, PlatformId, Setting, Shape, all, find};

const WORD: Shape = Shape::Text { min: 1, max: 9 };
const FIELDS: &[Setting] = &[
    Setting::required("question", WORD, "What is asked."),
    Setting::optional("options", Shape::List { of: &WORD, min: 2, max: 4 }, "The answers."),
];

#[test]
fn a_nested_object_keeps_its_limits_and_refuses_other_keys() {
    let schema = shape_schema(&Shape::Object(FIELDS));
    assert_eq!(
        json!(schema),
        json!({
            "type": "object",
            "properties": {
                "question": {"type": "string", "minLength": 1, "maxLength": 9, "description": "What is asked."},
                "options": {
                    "type": "array", "minItems": 2, "maxItems": 4, "description": "The answers.",
                    "items": {"type": "string", "minLength": 1, "maxLength": 9},
                },
            },
            "required": ["question"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn a_setting_is_listed_with_its_type_and_limits() {
    let entry = SettingDescription::of(&Setting::optional(
        "content_label",
        Shape::Choice(&["nudity", "porn"]),
        "A warning.",
    ));
    assert_eq!(
        json!(entry),
        json!({
            "name": "content_label", "type": "string", "values": ["nudity", "porn"],
            "required": false, "description": "A warning.",
        })
    );
}

#[test]
fn every_network_has_a_closed_schema_with_the_shared_settings() {
    for platform in all() {
        let spec = platform.spec();
        let schema = settings_schema(spec);
        assert_eq!(schema["additionalProperties"], json!(false), "{}", spec.label);
        for name in spec
            .settings
            .iter()
            .map(|setting| setting.name)
            .chain(["ai_generated", "ai_disclosure"])
        {
            let description = schema["properties"][name]["description"].as_str();
            assert!(description.is_some_and(|text| !text.is_empty()), "{}.{name}", spec.label);
        }
    }
}

#[test]
fn every_network_is_described_completely() {
    for platform in all() {
        let spec = platform.spec();
        let entry = json!(describe(spec));
        assert_eq!(entry["id"], json!(spec.id.as_str()));
        assert_eq!(entry["reconcile_class"], json!(spec.recovery_class.as_str()));
        assert_eq!(entry["post_types"].as_array().map(Vec::len), Some(spec.post_types.len()));
        assert!(entry["content_limits"]["caption_max"].as_u64() > Some(0), "{}", spec.label);
        let listed = entry["settings"].as_array().map(Vec::len);
        assert!(listed >= Some(spec.settings.len()), "{}", spec.label);
    }
}

#[test]
fn a_version_says_when_it_ends_and_when_somebody_last_looked() {
    let shown = |id: PlatformId| json!(describe(find(id).spec()))["api_version"].clone();
    // Meta's table of versions, and what Microsoft's notices of earlier versions say.
    let graph = json!({
        "version": "v26.0", "released": "2026-07-29", "ends": "2028-11-04", "ends_basis": "computed",
        "newest_known": "v27.0", "checked_at": "2026-11-26",
    });
    assert_eq!(shown(PlatformId::Facebook), graph);
    assert_eq!(shown(PlatformId::Instagram), graph);
    let linkedin = json!({
        "version": "202608", "released": null, "ends": "2027-08-16", "ends_basis": "computed",
        "newest_known": "202608", "checked_at": "2026-11-26",
    });
    assert_eq!(shown(PlatformId::Linkedin), linkedin);
    assert_eq!(shown(PlatformId::Bluesky), json!(null));
    for platform in all() {
        let Some(api) = platform.spec().api else { continue };
        let id = platform.spec().id;
        assert_eq!(api.ends.is_none(), api.ends_basis == EndsBasis::None, "{id}");
        assert!(api.checked_at.parse::<NaiveDate>().is_ok(), "{id}");
    }
}
