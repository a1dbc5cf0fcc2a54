//! The arrows between the crates run one way only, and so do those from features to what they stand on.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// The crates of ours that each crate may use. Whoever adds an arrow adds it here, and says why in an ADR.
const ALLOWED: &[(&str, &[&str])] = &[
    (
        "fanfare",
        &[
            "fanfare-ai",
            "fanfare-api",
            "fanfare-cli",
            "fanfare-domain",
            "fanfare-entities",
            "fanfare-jobs",
            "fanfare-limits",
            "fanfare-mail",
            "fanfare-media",
            "fanfare-metrics",
            "fanfare-migration",
            "fanfare-outbound",
            "fanfare-payments",
            "fanfare-platforms",
            "fanfare-sandbox",
            "fanfare-workers",
        ],
    ),
    ("fanfare-api", &["fanfare-domain", "fanfare-doors", "fanfare-entities", "fanfare-metrics"]),
    (
        "fanfare-workers",
        &[
            "fanfare-ai",
            "fanfare-domain",
            "fanfare-entities",
            "fanfare-jobs",
            "fanfare-limits",
            "fanfare-mail",
            "fanfare-media",
            "fanfare-metrics",
            "fanfare-outbound",
            "fanfare-platforms",
        ],
    ),
    (
        "fanfare-domain",
        &[
            "fanfare-ai",
            "fanfare-doors",
            "fanfare-entities",
            "fanfare-jobs",
            "fanfare-limits",
            "fanfare-mail",
            "fanfare-media",
            "fanfare-metrics",
            "fanfare-outbound",
            "fanfare-payments",
            "fanfare-platforms",
        ],
    ),
    ("fanfare-jobs", &["fanfare-metrics", "fanfare-redis"]),
    ("fanfare-limits", &["fanfare-redis"]),
    ("fanfare-redis", &[]),
    ("fanfare-ai", &["fanfare-outbound"]),
    ("fanfare-payments", &["fanfare-outbound"]),
    ("fanfare-platforms", &["fanfare-outbound"]),
    ("fanfare-mail", &[]),
    ("fanfare-media", &["fanfare-outbound"]),
    ("fanfare-metrics", &[]),
    ("fanfare-outbound", &["fanfare-metrics"]),
    ("fanfare-entities", &[]),
    ("fanfare-migration", &[]),
    ("fanfare-sandbox", &["fanfare-outbound"]),
    ("fanfare-cli", &["fanfare-doors"]),
    ("fanfare-doors", &[]),
];

#[test]
fn dependencies_point_one_way() {
    let found = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo answers");
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    let found: Value = serde_json::from_slice(&found.stdout).expect("cargo metadata is JSON");
    let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    for package in found["packages"].as_array().expect("packages") {
        let name = package["name"].as_str().expect("a name");
        if name == "fanfare-tests" {
            continue;
        }
        let may =
            allowed.get(name).unwrap_or_else(|| panic!("{name} is not in the list of crates"));
        for used in package["dependencies"].as_array().expect("dependencies") {
            let (used, kind) = (used["name"].as_str().expect("a name"), &used["kind"]);
            if used.starts_with("fanfare") && kind.is_null() {
                assert!(may.contains(&used), "{name} may not use {used}");
            }
        }
    }
}

/// The modules of `domain` that features stand on. They use each other, and no feature.
const FOUNDATION: [&str; 30] = [
    "access",
    "act",
    "after_commit",
    "audit_trail",
    "batcher",
    "batches",
    "clock",
    "db",
    "db_retry",
    "error",
    "events",
    "failpoint",
    "idempotency",
    "input",
    "json_size",
    "limits",
    "logins",
    "mutation",
    "offload",
    "page",
    "passwords",
    "platforms",
    "processes",
    "reply",
    "rows",
    "token",
    "tx",
    "unreadable",
    "user_lock",
    "zone",
];

/// The modules of its own crate that a file names: in `crate::a::…`, and the first names within `crate::{…}`.
fn named(source: &str) -> Vec<&str> {
    let paths = source.split("crate::").skip(1);
    let paths = paths.flat_map(|rest| match rest.strip_prefix('{') {
        Some(list) => first_level(list),
        None => vec![rest],
    });
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    paths.map(|path| path.split(|letter| !is_part(letter)).next().unwrap_or_default()).collect()
}

/// The entries of a list that ends with the brace that closes it.
fn first_level(list: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let mut is_at = |letter: char, wanted: char| {
        let found = letter == wanted && depth == 0;
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        found
    };
    let end = list.find(|letter| is_at(letter, '}')).unwrap_or(list.len());
    let entries = list[..end].split(|letter| is_at(letter, ','));
    entries.map(str::trim).filter(|entry| !entry.is_empty()).collect()
}

#[test]
fn the_foundation_of_the_domain_knows_no_feature() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("domain/src");
    let is_module =
        |name: &&str| root.join(name).is_dir() || root.join(format!("{name}.rs")).is_file();
    for module in FOUNDATION {
        let mut files: Vec<PathBuf> = Vec::from([root.join(format!("{module}.rs"))]);
        if let Ok(inside) = std::fs::read_dir(root.join(module)) {
            files.extend(inside.map(|file| file.expect("a file").path()));
        }
        let sources = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
        let sources: Vec<String> = sources.collect();
        assert!(!sources.is_empty(), "domain/src/{module} is gone");
        for source in &sources {
            for used in named(source).into_iter().filter(is_module) {
                assert!(FOUNDATION.contains(&used), "domain/src/{module} may not use {used}");
            }
        }
    }
}

#[test]
fn names_are_found_alone_and_in_lists() {
    let source =
        "use crate::{\n    Domain, a::{self, b},\n    c,\n};\nlet x = crate::d::e(); use crate::f;";
    assert_eq!(named(source), ["Domain", "a", "c", "d", "f"]);
}

/// Workers alone change something at a network: neither the rules nor a request do.
#[test]
fn no_rule_and_no_request_changes_anything_at_a_network() {
    const CALLS: [&str; 4] = ["apply_change(", "find_result(", ".publish(session", ".reconcile("];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("domain/src"), root.join("api/src")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(source) = std::fs::read_to_string(&path) else { continue };
            seen += 1;
            for call in CALLS {
                assert!(!source.contains(call), "{}: {call}", path.display());
            }
        }
    }
    assert!(seen > 300, "{seen} files");
}
