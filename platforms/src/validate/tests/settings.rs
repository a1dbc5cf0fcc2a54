use serde_json::{Value, json};

use super::{broken, draft, only};

/// Checks one setting beside the required one.
fn with(name: &str, value: Value) -> Vec<(String, &'static str)> {
    let mut draft = draft();
    draft.settings.insert(name.to_owned(), value);
    broken(&draft)
}

#[test]
fn values_of_the_right_shape_pass() {
    let good = [
        ("board", json!("12345")),
        ("label", json!("porn")),
        ("link", json!("https://a.b/c")),
        ("score", json!(-1)),
        ("score", json!(5)),
        ("until", json!("2030-01-31T09:00:00+02:00")),
        ("tags", json!(["a", "b"])),
        ("poll", json!({"question": "why"})),
        ("ai_generated", json!(true)),
        ("ai_disclosure", json!(false)),
    ];
    for (name, value) in good {
        assert_eq!(with(name, value.clone()), [], "{name}: {value}");
    }
}

#[test]
fn values_of_another_shape_do_not() {
    let bad = [
        ("board", json!("")),
        ("board", json!("123456")),
        ("board", json!(null)),
        ("label", json!("violence")),
        ("link", json!("ftp://a.b")),
        ("link", json!("a.b")),
        ("score", json!(6)),
        ("score", json!(-2)),
        ("score", json!(1.5)),
        ("score", json!("1")),
        ("until", json!("2030-01-31T09:00:00")),
        ("tags", json!([])),
        ("tags", json!(["a", "b", "c"])),
        ("tags", json!("a")),
        ("poll", json!("why")),
        ("ai_generated", json!("true")),
    ];
    for (name, value) in bad {
        let expected = [(format!("settings.{name}"), "setting_invalid")];
        assert_eq!(with(name, value.clone()), expected, "{name}: {value}");
    }
}

#[test]
fn limits_are_told_with_what_was_given() {
    let mut draft = draft();
    draft.settings.insert("score".to_owned(), json!(9));
    let found = only(&draft);
    assert_eq!((found.limit, found.actual), (Some(json!(5)), Some(json!(9))));
    draft.settings.insert("score".to_owned(), json!(1));
    draft.settings.insert("board".to_owned(), json!("toolong"));
    let found = only(&draft);
    assert_eq!((found.limit, found.actual), (Some(json!(5)), Some(json!(7))));
    assert_eq!(found.message, "settings.board has 7 characters; it may have at most 5.");
}

#[test]
fn nested_values_are_named_by_their_path() {
    let at = |path: &str, code| vec![(format!("settings.{path}"), code)];
    assert_eq!(with("tags", json!(["a", 1])), at("tags[1]", "setting_invalid"));
    assert_eq!(with("poll", json!({})), at("poll.question", "setting_required"));
    let unknown = json!({"question": "why", "answer": "no"});
    assert_eq!(with("poll", unknown), at("poll.answer", "unknown_field"));
}

#[test]
fn an_unknown_name_brings_the_nearest_known_one_to_mind() {
    let mut near = draft();
    near.settings.insert("lable".to_owned(), json!("porn"));
    assert_eq!(only(&near).remedy, "Did you mean \"label\"?");
    let mut far = draft();
    far.settings.insert("zzz".to_owned(), json!(1));
    assert!(only(&far).remedy.contains("board, label, link"), "{}", only(&far).remedy);
}
