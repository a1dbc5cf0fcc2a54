//! Rules for dependencies, by `deny.toml`: licences and sources. `cargo deny check` also asks for known holes, which
//! needs a database from outside.

use std::{path::Path, process::Command};

use serde_json::Value;
use spdx::{Expression, ParseMode};

fn metadata(root: &Path) -> Value {
    let found = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        .current_dir(root)
        .output()
        .expect("cargo answers");
    let error = String::from_utf8_lossy(&found.stderr);
    assert!(found.status.success(), "{error}\nrun scripts/install.sh, which fetches every crate");
    serde_json::from_slice(&found.stdout).expect("cargo metadata is JSON")
}

fn packages(metadata: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let all = metadata["packages"].as_array().expect("packages");
    all.iter().map(|package| (package["name"].as_str().expect("a name"), package))
}

#[test]
fn dependencies_have_licences_that_are_allowed_and_come_from_the_registry() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let policy = std::fs::read_to_string(root.join("deny.toml")).expect("deny.toml");
    let policy: toml::Table = policy.parse().expect("deny.toml is TOML");
    let allowed = policy["licenses"]["allow"].as_array().expect("a list of licences");
    let is_allowed = |licence: &spdx::LicenseReq| {
        allowed.iter().any(|one| one.as_str() == Some(licence.to_string().as_str()))
    };
    let metadata = metadata(root);
    let mut foreign = 0;
    for (name, package) in packages(&metadata) {
        let Some(source) = package["source"].as_str() else { continue };
        foreign += 1;
        assert!(source.starts_with("registry+"), "{name} comes from {source}");
        let licence = package["license"].as_str().unwrap_or_default();
        let terms = Expression::parse_mode(licence, ParseMode::LAX);
        let terms = terms.unwrap_or_else(|error| panic!("{name}: licence {licence:?}: {error}"));
        assert!(terms.evaluate(is_allowed), "{name} has the licence {licence}");
    }
    assert!(foreign > 100, "cargo metadata names only {foreign} dependencies");
}

#[test]
fn our_crates_name_a_version_of_each_dependency() {
    let metadata = metadata(Path::new(env!("CARGO_MANIFEST_DIR")));
    for (name, package) in packages(&metadata).filter(|(_, package)| package["source"].is_null()) {
        for used in package["dependencies"].as_array().expect("dependencies") {
            let wild = used["req"] == "*" && used["path"].is_null();
            assert!(!wild, "{name} takes any version of {}", used["name"]);
        }
    }
}
