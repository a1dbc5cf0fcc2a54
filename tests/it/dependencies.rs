//! Rules for dependencies, by `deny.toml`: licences and sources. `cargo deny check` also asks for known holes, which
//! needs a database from outside.

use std::{collections::BTreeSet, path::Path, process::Command};

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

/// All that stands in the sources below a folder.
fn sources(folder: &Path) -> String {
    let mut all = String::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                all += &std::fs::read_to_string(&path).expect("a source");
            }
        }
    }
    all
}

#[test]
fn our_crates_use_what_they_depend_on() {
    let metadata = metadata(Path::new(env!("CARGO_MANIFEST_DIR")));
    for (name, package) in packages(&metadata).filter(|(_, package)| package["source"].is_null()) {
        let targets = package["targets"].as_array().expect("targets");
        let folders = targets.iter().map(|target| {
            let file = Path::new(target["src_path"].as_str().expect("a path"));
            file.parent().expect("a folder")
        });
        let folders: BTreeSet<&Path> = folders.collect();
        let sources: String = folders.into_iter().map(sources).collect();
        for used in package["dependencies"].as_array().expect("dependencies") {
            let named = used["rename"].as_str().or(used["name"].as_str()).expect("a name");
            let is_named = sources.contains(&named.replace('-', "_"));
            assert!(is_named, "{name} does not use {named}");
        }
    }
}

/// The image is built from what `.dockerignore` lets through.
#[test]
fn the_image_is_built_from_every_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let metadata = metadata(root);
    let ignored = std::fs::read_to_string(root.join(".dockerignore")).expect(".dockerignore");
    let let_in: Vec<&str> = ignored.lines().filter_map(|line| line.strip_prefix('!')).collect();
    for (name, package) in packages(&metadata).filter(|(_, package)| package["source"].is_null()) {
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        let folder = manifest.parent().expect("a folder");
        let within = folder.strip_prefix(root).expect("a folder of ours");
        let sources = if within == Path::new("") { Path::new("src") } else { within };
        let is_in = let_in.iter().any(|one| sources.starts_with(one));
        assert!(is_in, "{name} is not in the image");
    }
    for text in ["docs/openapi.json", "docs/guides", "docs/updates"] {
        assert!(let_in.contains(&text), "{text} is part of the binary");
    }
}
