//! Random sets against a second, plain implementation of the rule: a target's own value comes before that for its
//! platform, that before the shared one; null is empty and ends the search.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use serde_json::{Map, Value, json};

use super::{path, with_accounts};

/// The settings that are drawn, and the platforms that have them.
const SETTINGS: [(&str, &[&str]); 4] = [
    ("visibility", &["mastodon"]),
    ("language", &["mastodon"]),
    ("parse_mode", &["telegram"]),
    ("canonical_url", &["devto"]),
];

const PLATFORMS: [&str; 3] = ["mastodon", "telegram", "devto"];

fn value(random: &mut StdRng, setting: &str) -> Value {
    if random.random_ratio(1, 4) {
        return Value::Null;
    }
    match setting {
        "visibility" => json!(["public", "unlisted"].choose(random).unwrap()),
        "language" => json!(["de", "en", "pt"].choose(random).unwrap()),
        "parse_mode" => json!("HTML"),
        _ => json!(format!("https://example.com/{}", random.random_range(0..9))),
    }
}

/// Draws a level; `of` are the platforms whose settings it may have.
fn level(random: &mut StdRng, of: &[&str]) -> Map<String, Value> {
    let mut level = Map::new();
    if random.random_bool(0.5) {
        level.insert(
            "caption".to_owned(),
            json!(format!("# Text {}\n\nmore", random.random_range(0..99))),
        );
    }
    if random.random_bool(0.6) {
        let mut settings = Map::new();
        for (name, platforms) in SETTINGS {
            if platforms.iter().any(|one| of.contains(one)) && random.random_bool(0.5) {
                settings.insert(name.to_owned(), value(random, name));
            }
        }
        let given = if random.random_ratio(1, 6) { Value::Null } else { settings.into() };
        level.insert("settings".to_owned(), given);
    }
    level
}

/// The rule, written down once more: the value and the origin of each part.
fn expected(
    platform: &str,
    levels: [(&str, &Map<String, Value>); 3],
) -> (Value, Map<String, Value>, BTreeMap<String, String>) {
    let mut from = BTreeMap::from([
        ("media".to_owned(), "default".to_owned()),
        ("post_type".to_owned(), "default".to_owned()),
    ]);
    let caption = levels.iter().find(|(_, level)| level.contains_key("caption"));
    from.insert("caption".to_owned(), caption.map_or("default", |(origin, _)| *origin).to_owned());
    let caption = caption.map_or(json!(""), |(_, level)| level["caption"].clone());
    let mut settings = Map::new();
    for (name, platforms) in SETTINGS {
        for (origin, level) in levels {
            let knows = platforms.contains(&platform);
            match level.get("settings") {
                None => {}
                Some(Value::Null) => break,
                Some(given) => match given.get(name) {
                    Some(Value::Null) if origin != "shared" || knows => break,
                    Some(value) if origin != "shared" || knows => {
                        settings.insert(name.to_owned(), value.clone());
                        from.insert(format!("settings.{name}"), origin.to_owned());
                        break;
                    }
                    _ => {}
                },
            }
        }
    }
    (caption, settings, from)
}

#[tokio::test]
async fn what_targets_get_agrees_with_the_rule_written_down_again() {
    let (app, user, accounts) = with_accounts(&PLATFORMS).await;
    for seed in 0..60 {
        let mut random = StdRng::seed_from_u64(seed);
        let shared = level(&mut random, &PLATFORMS);
        let per_platform: Map<String, Value> = PLATFORMS
            .iter()
            .filter(|_| random.random_bool(0.5))
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
            .into_iter()
            .map(|name| (name.clone(), level(&mut random, &[&name]).into()))
            .collect();
        let owns: Vec<_> = PLATFORMS.iter().map(|name| level(&mut random, &[name])).collect();
        let mut body = shared.clone();
        body.insert("status".to_owned(), json!("draft"));
        body.insert("scheduled_at".to_owned(), json!(app.at(900)));
        body.insert("per_platform".to_owned(), per_platform.clone().into());
        let targets = accounts.iter().zip(&owns).map(|(id, own)| {
            let mut target = own.clone();
            target.insert("account_id".to_owned(), json!(id));
            Value::from(target)
        });
        body.insert("targets".to_owned(), targets.collect());
        let set =
            user.post("/api/v1/post-sets", body.into()).await.expect(201).body["post_set"].clone();
        let none = Map::new();
        for ((platform, own), target) in
            PLATFORMS.iter().zip(&owns).zip(set["targets"].as_array().unwrap())
        {
            let of_platform =
                per_platform.get(*platform).and_then(Value::as_object).unwrap_or(&none);
            let levels = [("target", own), ("platform", of_platform), ("shared", &shared)];
            let (caption, settings, from) = expected(platform, levels);
            let post = user.get(&format!("/api/v1/posts/{}", target["post_id"])).await.body["post"]
                .clone();
            let seen = (&post["caption"], &post["settings"], &target["from"]);
            assert_eq!(
                seen,
                (&caption, &settings.into(), &json!(from)),
                "seed {seed}, {platform}: {set}"
            );
        }
        user.delete(&path(&set)).await.expect(200);
    }
}
