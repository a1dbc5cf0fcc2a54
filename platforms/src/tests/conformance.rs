//! Requirements on every connector in the list: its descriptor is complete and true to itself, its examples show all it
//! can do, and each limit holds at its edge and one past it.

pub mod progress;

use serde_json::{Map, Value, json};

use crate::{
    Account, Draft, Example, Platform, Setting, Shape, Violation, all, tests::test_server,
    validate::validate,
};

fn account() -> Account {
    Account::default()
}

/// The draft that an example makes.
pub fn draft(platform: &dyn Platform, example: &Example) -> Draft {
    let post = example.post.replace("<captions_url>", "https://media.example.org/captions.vtt");
    let post: Value = serde_json::from_str(&post).expect("an example is JSON");
    let object = |name: &str| post[name].as_object().cloned().unwrap_or_default();
    let mut draft = test_server::draft(post["caption"].as_str().unwrap_or_default(), json!({}));
    let kind = platform.spec().post_types[0].name;
    draft.post_type = post["post_type"].as_str().unwrap_or(kind).to_owned();
    (draft.settings, draft.metadata) = (object("settings"), object("metadata"));
    draft.media = example.media.iter().map(|mime| test_server::media("file", mime)).collect();
    draft
}

/// Examples that can be judged without the network's ids.
fn judged(platform: &'static dyn Platform) -> impl Iterator<Item = Draft> {
    let examples = platform.spec().examples.iter();
    examples.filter(|one| !one.post.contains("<earlier")).map(move |one| draft(platform, one))
}

fn breaks(found: &[Violation], field: &str, code: &str) -> bool {
    for one in found {
        // A number out of its range counts nothing.
        let is_count = one.limit.as_ref().is_some_and(serde_json::Value::is_number)
            && !one.message.contains("a whole number");
        assert!(!is_count || one.unit.is_some(), "{one:?}");
    }
    found.iter().any(|one| one.field == field && one.code == code)
}

#[test]
fn a_descriptor_says_where_it_is_from_and_how_the_network_is_connected() {
    for platform in all() {
        let spec = platform.spec();
        let id = spec.id;
        assert!(!spec.label.is_empty() && !spec.sources.is_empty(), "{id}");
        assert!(
            spec.sources.iter().all(|one| !one.facts.is_empty() && !one.from.is_empty()),
            "{id}"
        );
        assert!(!spec.post_types.is_empty() && spec.caption.max > 0, "{id}");
        match spec.connect {
            crate::ConnectSpec::Credentials(fields) => {
                assert!(fields.iter().any(|f| f.required), "{id}")
            }
            crate::ConnectSpec::Oauth(oauth) => assert!(!oauth.permissions.is_empty(), "{id}"),
        }
        assert!(
            spec.recovery_class == crate::RecoveryClass::Blind
                || !spec.doc_notes.reconcile.is_empty(),
            "{id}"
        );
        assert!(!spec.doc_notes.tokens.is_empty(), "{id}");
        let known = |name: &str| spec.post_types.iter().any(|kind| kind.name == name);
        let counted = spec.rate_limits.iter().flat_map(|rate_limit| rate_limit.post_types);
        assert!(counted.copied().all(known), "{id}");
        // Our own books answer X's one tool.
        let asked = spec.tools.iter().any(|tool| *tool != "x.quota");
        assert_eq!(asked, platform.tools().is_some(), "{id}: tools");
        if let Some(ends) = spec.api.and_then(|api| api.ends) {
            assert!(chrono::NaiveDate::parse_from_str(ends, "%Y-%m-%d").is_ok(), "{id}: {ends}");
        }
    }
}

#[test]
fn examples_show_every_post_type_and_every_setting_and_are_valid() {
    for platform in all() {
        let spec = platform.spec();
        let drafts: Vec<Draft> = spec.examples.iter().map(|one| draft(*platform, one)).collect();
        for kind in spec.post_types {
            let shown = drafts.iter().any(|draft| draft.post_type == kind.name);
            assert!(shown, "{}: no example of the post type {}", spec.id, kind.name);
        }
        // What has no effect is taken for the sake of older programs, and shown to nobody.
        let settings =
            spec.settings.iter().filter(|setting| !setting.doc.starts_with("Has no effect"));
        for setting in settings {
            let shown = drafts.iter().any(|draft| draft.settings.contains_key(setting.name));
            assert!(shown, "{}: no example of the setting {}", spec.id, setting.name);
        }
        for draft in judged(*platform) {
            let found = validate(*platform, &account(), &draft);
            assert!(found.is_empty(), "{}: {draft:?}: {found:#?}", spec.id);
        }
    }
}

#[test]
fn a_caption_that_shows_nothing_counts_as_none() {
    for platform in all() {
        for draft in judged(*platform) {
            let codes = |caption: &str| {
                let draft = Draft { caption: caption.to_owned(), ..draft.clone() };
                let found = validate(*platform, &account(), &draft);
                found.iter().map(|one| one.code).collect::<Vec<_>>()
            };
            let id = platform.spec().id;
            assert_eq!(codes("\u{200b} \u{2060}\n"), codes(""), "{id}: {draft:?}");
        }
    }
}

/// A text of exactly this length as the network counts it, in a post of its own.
fn text(length: usize) -> String {
    "n".repeat(length)
}

#[test]
fn a_caption_may_be_as_long_as_it_may_be() {
    for platform in all() {
        let spec = platform.spec();
        let is_thread =
            |draft: &Draft| spec.thread.is_some_and(|it| it.post_type == draft.post_type);
        // A caption that is not published may be of any length.
        let is_judged = |draft: &Draft| !is_thread(draft) && spec.shows_caption(draft);
        for mut draft in judged(*platform).filter(is_judged) {
            let (limit, _) = spec.caption_max(&draft);
            // Markup and spoilers are about the words of the example.
            draft
                .settings
                .retain(|name, _| spec.settings.iter().any(|one| one.required && one.name == name));
            let other = platform.caption_length(&Draft { caption: String::new(), ..draft.clone() });
            draft.caption = text(limit - other);
            let found = validate(*platform, &account(), &draft);
            assert!(!breaks(&found, "caption", "caption_too_long"), "{}: {found:#?}", spec.id);
            draft.caption = text(limit - other + 1);
            let found = validate(*platform, &account(), &draft);
            assert!(breaks(&found, "caption", "caption_too_long"), "{}: {found:#?}", spec.id);
        }
    }
}

#[test]
fn as_many_and_as_large_files_as_may_be_and_no_more() {
    for platform in all() {
        let spec = platform.spec();
        for kind in spec.post_types {
            let rules = kind.media.unwrap_or(spec.media);
            let kinds = [
                (
                    rules.images_max.min(rules.total_max),
                    rules.image_types,
                    rules.image_bytes_max,
                    None,
                ),
                (
                    rules.videos_max.min(rules.total_max),
                    rules.video_types,
                    rules.video_bytes_max,
                    rules.video_ms_max,
                ),
            ];
            for (most, types, bytes, longest) in kinds.into_iter().filter(|(most, ..)| *most > 0) {
                let judge = |files: usize, bytes: u64, ms: Option<u64>| {
                    let mut draft = test_server::draft("n", json!({}));
                    draft.post_type = kind.name.to_owned();
                    let mut file = test_server::media("file", types[0]);
                    (file.bytes, file.duration_ms) = (Some(bytes), ms);
                    // An image that stands still is made smaller.
                    file.animated = true;
                    draft.media = vec![file; files];
                    let found = validate(*platform, &account(), &draft);
                    found
                        .into_iter()
                        .filter(|one| one.field.starts_with("media_url"))
                        .map(|one| one.code)
                        .collect::<Vec<_>>()
                };
                let what = format!("{} {} {}", spec.id, kind.name, types[0]);
                let limits = [
                    "too_many_media",
                    "media_too_large",
                    "video_exceeds_platform_limit",
                    "video_too_long",
                ];
                let met =
                    |codes: Vec<&'static str>| codes.into_iter().find(|code| limits.contains(code));
                assert_eq!(met(judge(most, bytes, longest)), None, "{what}");
                assert_eq!(met(judge(most + 1, bytes, longest)), Some("too_many_media"), "{what}");
                assert!(met(judge(1, bytes + 1, longest)).is_some(), "{what}");
                if let Some(longest) = longest {
                    assert_eq!(
                        met(judge(1, bytes, Some(longest + 1))),
                        Some("video_too_long"),
                        "{what}"
                    );
                }
            }
        }
    }
}

/// Values at the edges of a shape, and values past them.
fn edges(shape: &Shape) -> (Vec<Value>, Vec<Value>) {
    let past_lists = |of: &Shape, size: usize| {
        let one = edges(of).0.into_iter().next().unwrap_or(Value::Null);
        Value::Array(vec![one; size])
    };
    match shape {
        Shape::Bool => (vec![json!(true)], vec![json!("true"), json!(1)]),
        Shape::Text { min, max } | Shape::Id { min, max } => {
            let mut past = vec![json!("n".repeat(max + 1)), json!(7)];
            past.extend((*min > 0).then(|| json!("n".repeat(min - 1))));
            (vec![json!("n".repeat(*min)), json!("n".repeat(*max))], past)
        }
        Shape::Url => {
            (vec![json!("https://example.org/a")], vec![json!("ftp://example.org"), json!("a")])
        }
        Shape::Choice(values) => {
            (values.iter().map(|one| json!(one)).collect(), vec![json!("no such choice")])
        }
        Shape::Integer { min, max } => {
            let past = [min.checked_sub(1), max.checked_add(1)];
            let past = past.into_iter().flatten().map(|one| json!(one)).chain([json!(1.5)]);
            (vec![json!(min), json!(max)], past.collect())
        }
        Shape::Number { min, max } => {
            (vec![json!(min), json!(max)], vec![json!(min - 0.5), json!(max + 0.5), json!("1")])
        }
        Shape::Time => (vec![json!("2030-01-31T09:00:00Z")], vec![json!("tomorrow")]),
        Shape::List { of, min, max } => {
            let mut past = vec![past_lists(of, max + 1), json!("n")];
            past.extend((*min > 0).then(|| past_lists(of, min - 1)));
            (vec![past_lists(of, *min), past_lists(of, *max)], past)
        }
        Shape::Foreign => (vec![json!({"type": "divider"})], vec![json!([])]),
        Shape::Object(fields) => {
            let whole = |fields: &[Setting]| {
                let filled =
                    fields.iter().map(|one| (one.name.to_owned(), edges(&one.shape).0[0].clone()));
                filled.collect::<Map<_, _>>()
            };
            let mut past = vec![json!([]), json!({"no_such_field": 1})];
            past.extend(fields.iter().filter(|one| one.required).map(|one| {
                let mut without = whole(fields);
                without.remove(one.name);
                Value::Object(without)
            }));
            (vec![Value::Object(whole(fields))], past)
        }
    }
}

/// Violations that only the shape of a setting causes.
fn broken_shapes(platform: &dyn Platform, setting: &Setting, value: Value) -> usize {
    let settings = Map::from_iter([(setting.name.to_owned(), value)]);
    let known = [*setting];
    crate::validate::value::object_violations(&known, &settings, "settings").len().min(1)
        * usize::from(!platform.spec().settings.is_empty())
}

#[test]
fn a_setting_takes_its_edges_and_nothing_past_them() {
    for platform in all() {
        for setting in platform.spec().settings {
            let (at, past) = edges(&setting.shape);
            for value in at {
                let broken = broken_shapes(*platform, setting, value.clone());
                assert_eq!(broken, 0, "{} {}: {value}", platform.spec().id, setting.name);
            }
            for value in past {
                let mut draft = judged(*platform).next().expect("an example without ids");
                draft.settings.insert(setting.name.to_owned(), value.clone());
                let found = validate(*platform, &account(), &draft);
                let field = format!("settings.{}", setting.name);
                let told =
                    found.iter().any(|one| one.field.starts_with(&field) && !one.remedy.is_empty());
                assert!(told, "{} {}: {value}: {found:#?}", platform.spec().id, setting.name);
            }
        }
    }
}

#[test]
fn what_must_be_set_is_missed() {
    for platform in all() {
        for setting in platform.spec().settings.iter().filter(|setting| setting.required) {
            for mut draft in judged(*platform) {
                draft.settings.remove(setting.name);
                let found = validate(*platform, &account(), &draft);
                let field = format!("settings.{}", setting.name);
                assert!(
                    breaks(&found, &field, "setting_required"),
                    "{}: {found:#?}",
                    platform.spec().id
                );
            }
        }
    }
}
