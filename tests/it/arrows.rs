//! The arrows between the crates run one way only.

use std::{collections::BTreeMap, path::Path, process::Command};

use serde_json::Value;

/// The crates of ours that each crate may use. Whoever adds an arrow adds it here, and says why in an ADR.
const ALLOWED: &[(&str, &[&str])] = &[
    (
        "fanfare",
        &[
            "fanfare-ai",
            "fanfare-api",
            "fanfare-cli",
            "fanfare-conversations",
            "fanfare-core",
            "fanfare-entities",
            "fanfare-insight",
            "fanfare-jobs",
            "fanfare-limits",
            "fanfare-mail",
            "fanfare-media",
            "fanfare-metrics",
            "fanfare-migration",
            "fanfare-ops",
            "fanfare-outbound",
            "fanfare-payments",
            "fanfare-people",
            "fanfare-platforms",
            "fanfare-publishing",
            "fanfare-sandbox",
            "fanfare-web",
            "fanfare-workers",
        ],
    ),
    (
        "fanfare-web",
        &[
            "fanfare-api",
            "fanfare-conversations",
            "fanfare-core",
            "fanfare-entities",
            "fanfare-insight",
            "fanfare-ops",
            "fanfare-people",
            "fanfare-publishing",
        ],
    ),
    (
        "fanfare-api",
        &[
            "fanfare-conversations",
            "fanfare-core",
            "fanfare-doors",
            "fanfare-entities",
            "fanfare-insight",
            "fanfare-metrics",
            "fanfare-ops",
            "fanfare-people",
            "fanfare-publishing",
        ],
    ),
    (
        "fanfare-workers",
        &[
            "fanfare-ai",
            "fanfare-conversations",
            "fanfare-core",
            "fanfare-entities",
            "fanfare-insight",
            "fanfare-jobs",
            "fanfare-limits",
            "fanfare-mail",
            "fanfare-media",
            "fanfare-metrics",
            "fanfare-ops",
            "fanfare-outbound",
            "fanfare-people",
            "fanfare-platforms",
            "fanfare-publishing",
        ],
    ),
    (
        "fanfare-ops",
        &[
            "fanfare-ai",
            "fanfare-conversations",
            "fanfare-core",
            "fanfare-entities",
            "fanfare-insight",
            "fanfare-jobs",
            "fanfare-mail",
            "fanfare-people",
            "fanfare-platforms",
            "fanfare-publishing",
        ],
    ),
    (
        "fanfare-insight",
        &[
            "fanfare-ai",
            "fanfare-conversations",
            "fanfare-core",
            "fanfare-entities",
            "fanfare-jobs",
            "fanfare-media",
            "fanfare-outbound",
            "fanfare-people",
            "fanfare-platforms",
            "fanfare-publishing",
        ],
    ),
    (
        "fanfare-conversations",
        &[
            "fanfare-core",
            "fanfare-entities",
            "fanfare-jobs",
            "fanfare-media",
            "fanfare-outbound",
            "fanfare-platforms",
            "fanfare-publishing",
        ],
    ),
    (
        "fanfare-publishing",
        &[
            "fanfare-core",
            "fanfare-entities",
            "fanfare-jobs",
            "fanfare-limits",
            "fanfare-media",
            "fanfare-metrics",
            "fanfare-outbound",
            "fanfare-people",
            "fanfare-platforms",
        ],
    ),
    (
        "fanfare-people",
        &[
            "fanfare-core",
            "fanfare-entities",
            "fanfare-jobs",
            "fanfare-mail",
            "fanfare-metrics",
            "fanfare-outbound",
            "fanfare-payments",
            "fanfare-platforms",
        ],
    ),
    (
        "fanfare-core",
        &[
            "fanfare-doors",
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

/// Workers alone change something at a network: neither the rules nor a request do.
#[test]
fn no_rule_and_no_request_changes_anything_at_a_network() {
    const CALLS: [&str; 4] = ["apply_change(", "find_result(", ".publish(session", ".reconcile("];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("domain"), root.join("api/src"), root.join("web/src")];
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
