//! Profiles: where the service is, and the key to it.
//!
//! They are kept in `$XDG_CONFIG_HOME/fanfare/profiles.toml`, readable by their owner alone.

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::{Context as _, Result};
use clap::ArgMatches;
use etcetera::{BaseStrategy, choose_base_strategy};
use serde::{Deserialize, Serialize};

use super::command::given;

const HERE: &str = "http://127.0.0.1:8080";

/// A profile.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Origin of the service.
    pub url: Option<String>,
    /// The API key.
    pub key: Option<String>,
}

/// The service and the key of a request.
pub struct Target {
    /// Origin of the service.
    pub url: String,
    /// The API key; empty without one.
    pub key: String,
}

fn place() -> Result<PathBuf> {
    let folders = choose_base_strategy().context("no home directory")?;
    Ok(folders.config_dir().join("fanfare/profiles.toml"))
}

fn read() -> Result<BTreeMap<String, Profile>> {
    let place = place()?;
    match fs::read_to_string(&place) {
        Ok(text) => toml::from_str(&text).with_context(|| place.display().to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error).with_context(|| place.display().to_string()),
    }
}

fn name(matches: &ArgMatches) -> String {
    given(matches, "profile").next().cloned().unwrap_or_else(|| "default".to_owned())
}

/// Returns where a command goes: flags before variables before the profile.
///
/// # Errors
/// The file of the profiles cannot be read.
pub fn target(matches: &ArgMatches) -> Result<Target> {
    let profile = read()?.remove(&name(matches)).unwrap_or_default();
    let url = given(matches, "api-url").next().cloned().or(profile.url);
    let key = given(matches, "api-key").next().cloned().or(profile.key);
    let url = url.unwrap_or_else(|| HERE.to_owned());
    Ok(Target { url: url.trim_end_matches('/').to_owned(), key: key.unwrap_or_default() })
}

/// Stores a key, or forgets it; returns the file.
///
/// # Errors
/// The file cannot be written.
pub fn store(matches: &ArgMatches, profile: Option<Profile>) -> Result<PathBuf> {
    let mut all = read()?;
    match profile {
        Some(profile) => all.insert(name(matches), profile),
        None => all.remove(&name(matches)),
    };
    let place = place()?;
    let folder = place.parent().context("no folder for the profiles")?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    // The process makes files for its owner alone; whoever reads this while it is written finds the old or the new.
    let fresh = place.with_extension("new");
    fs::write(&fresh, toml::to_string(&all)?).with_context(|| fresh.display().to_string())?;
    fs::rename(&fresh, &place)?;
    Ok(place)
}
