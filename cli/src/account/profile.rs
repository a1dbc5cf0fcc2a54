//! Profiles: where the service is, and the key or the log-in that opens it.
//!
//! They are kept in `$XDG_CONFIG_HOME/fanfare/profiles.toml`, readable by their owner alone. Whoever changes them holds the lock
//! on the file beside it, so that of two commands at once one renews the log-in and the other finds it renewed.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use etcetera::{BaseStrategy, choose_base_strategy};
use serde::{Deserialize, Serialize};

use super::oauth::{NotIn, Server, Tokens};

const HERE: &str = "http://127.0.0.1:8080";

/// A profile.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Origin of the service.
    pub url: Option<String>,
    /// The API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The log-in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// The profile to be used, and what stands in the place of its content.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Name of the profile.
    pub profile: Option<String>,
    /// Origin of the service.
    pub url: Option<String>,
    /// The API key.
    pub key: Option<String>,
}

/// The service and what opens it.
pub struct Target {
    /// Origin of the service.
    pub url: String,
    /// The API key or access token; empty without one.
    pub key: String,
}

impl Profile {
    /// Returns where it leads, as it stands.
    pub fn target(&self) -> Target {
        let token = self.tokens.as_ref().map(|tokens| tokens.access.clone());
        let key = token.or_else(|| self.key.clone()).unwrap_or_default();
        Target { url: self.url.clone().unwrap_or_default(), key }
    }
}

impl Given {
    fn name(&self) -> &str {
        self.profile.as_deref().unwrap_or("default")
    }

    /// Returns the origin of the service: what was given before the profile's.
    ///
    /// # Errors
    /// The file of the profiles cannot be read.
    pub fn origin(&self) -> Result<String> {
        let url = match &self.url {
            Some(url) => Some(url.clone()),
            None => self.stored()?.url,
        };
        Ok(url.unwrap_or_else(|| HERE.to_owned()).trim_end_matches('/').to_owned())
    }

    /// Returns where a command goes, with a log-in that lasts for the next minute.
    ///
    /// # Errors
    /// The file of the profiles cannot be read or written; the log-in could not be renewed, or is over.
    pub async fn target(&self) -> Result<Target> {
        let url = self.origin()?;
        if let Some(key) = &self.key {
            return Ok(Target { url, key: key.clone() });
        }
        let profile = self.stored()?;
        // A key of one service is told to no other.
        if profile.url.as_ref() != Some(&url) {
            return Ok(Target { url, key: String::new() });
        }
        let key = match profile.tokens {
            Some(tokens) if tokens.are_fresh() => Some(tokens.access),
            Some(_) => self.renew(&url).await?,
            None => profile.key,
        };
        Ok(Target { url, key: key.unwrap_or_default() })
    }

    /// Returns the profile as it is stored.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn stored(&self) -> Result<Profile> {
        Ok(read(&place()?)?.remove(self.name()).unwrap_or_default())
    }

    /// Stores the profile, or forgets it; returns the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn store(&self, profile: Option<Profile>) -> Result<PathBuf> {
        let place = place()?;
        let _lock = lock(&place).await?;
        self.write(&place, profile)?;
        Ok(place)
    }

    fn write(&self, place: &Path, profile: Option<Profile>) -> Result<()> {
        let mut all = read(place)?;
        match profile {
            Some(profile) => all.insert(self.name().to_owned(), profile),
            None => all.remove(self.name()),
        };
        // The process makes files for its owner alone; whoever reads this while it is written finds the old or the new.
        let fresh = place.with_extension("new");
        fs::write(&fresh, toml::to_string(&all)?).with_context(|| fresh.display().to_string())?;
        fs::rename(&fresh, place).with_context(|| place.display().to_string())
    }

    /// Renews the log-in; another command may have done it meanwhile.
    async fn renew(&self, url: &str) -> Result<Option<String>> {
        let place = place()?;
        let _lock = lock(&place).await?;
        let mut profile = self.stored()?;
        let Some(tokens) = profile.tokens.take() else { return Ok(profile.key) };
        if tokens.are_fresh() {
            return Ok(Some(tokens.access));
        }
        let renewed = match Server::discover(url).await?.refresh(&tokens).await {
            Err(error) if error.downcast_ref::<NotIn>().is_some() => {
                self.write(&place, Some(profile))?;
                return Err(error);
            }
            renewed => renewed?,
        };
        let access = renewed.access.clone();
        self.write(&place, Some(Profile { tokens: Some(renewed), ..profile }))?;
        Ok(Some(access))
    }
}

fn place() -> Result<PathBuf> {
    let folders = choose_base_strategy().context("no home directory")?;
    Ok(folders.config_dir().join("fanfare/profiles.toml"))
}

fn read(place: &Path) -> Result<BTreeMap<String, Profile>> {
    match fs::read_to_string(place) {
        Ok(text) => toml::from_str(&text).with_context(|| place.display().to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error).with_context(|| place.display().to_string()),
    }
}

/// Waits until no other command changes the profiles; the lock ends with what is returned, or with the process.
async fn lock(place: &Path) -> Result<File> {
    let folder = place.parent().context("no folder for the profiles")?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = place.with_extension("lock");
    let file = File::create(&path).with_context(|| path.display().to_string())?;
    let locked = tokio::task::spawn_blocking(move || file.lock().map(|()| file)).await?;
    locked.with_context(|| path.display().to_string())
}
