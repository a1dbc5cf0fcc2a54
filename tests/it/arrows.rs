//! The arrows between the crates run one way only.

use std::{collections::BTreeMap, process::Command};

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
    ("fanfare-api", &["fanfare-domain", "fanfare-entities", "fanfare-metrics"]),
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
            "fanfare-payments",
            "fanfare-platforms",
        ],
    ),
    (
        "fanfare-domain",
        &[
            "fanfare-ai",
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
    ("fanfare-cli", &[]),
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
