//! Profiles: the address of a service, and the API key or log-in for it.
//!
//! They are stored in `$XDG_CONFIG_HOME/fanfare/profiles.toml`, readable by their owner only. A command that changes
//! them holds a lock on a file beside it, so that of two concurrent commands only one renews the log-in.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use etcetera::{BaseStrategy, choose_base_strategy};
use serde::{Deserialize, Serialize};

use super::oauth::{AuthorizationServer, LoginError, Tokens};

const DEFAULT_URL: &str = "http://127.0.0.1:8080";

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

/// Which profile to use, and options that override its content.
#[derive(Debug, Clone, Default)]
pub struct ProfileOptions {
    /// Name of the profile.
    pub profile: Option<String>,
    /// Origin of the service.
    pub url: Option<String>,
    /// The API key.
    pub key: Option<String>,
}

/// A service and the credentials for it.
pub struct Target {
    /// Origin of the service.
    pub url: String,
    /// The API key or access token; empty without one.
    pub key: String,
}

impl Profile {
    /// Returns its service and credentials as they are.
    pub fn target(&self) -> Target {
        let token = self.tokens.as_ref().map(|tokens| tokens.access.clone());
        let key = token.or_else(|| self.key.clone()).unwrap_or_default();
        Target { url: self.url.clone().unwrap_or_default(), key }
    }
}

impl ProfileOptions {
    fn name(&self) -> &str {
        self.profile.as_deref().unwrap_or("default")
    }

    /// Returns the origin of the service: that of the options, else of the profile.
    ///
    /// # Errors
    /// The file of the profiles cannot be read.
    pub fn origin(&self) -> Result<String> {
        let url = match &self.url {
            Some(url) => Some(url.clone()),
            None => self.stored()?.url,
        };
        Ok(url.unwrap_or_else(|| DEFAULT_URL.to_owned()).trim_end_matches('/').to_owned())
    }

    /// Returns the service of a command, with an access token that is valid for at least a minute.
    ///
    /// # Errors
    /// The file of the profiles cannot be read or written; the log-in has ended or could not be renewed.
    pub async fn target(&self) -> Result<Target> {
        let url = self.origin()?;
        if let Some(key) = &self.key {
            return Ok(Target { url, key: key.clone() });
        }
        let profile = self.stored()?;
        // A key of one service is never sent to another.
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
        Ok(read(&profiles_path()?)?.remove(self.name()).unwrap_or_default())
    }

    /// Stores the profile, or removes it; returns the path of the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn store(&self, profile: Option<Profile>) -> Result<PathBuf> {
        let place = profiles_path()?;
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
        // The umask makes files private; a concurrent reader sees the old or the new content.
        let fresh = place.with_extension("new");
        fs::write(&fresh, toml::to_string(&all)?).with_context(|| fresh.display().to_string())?;
        fs::rename(&fresh, place).with_context(|| place.display().to_string())
    }

    /// Renews the access token, unless another command has done it meanwhile.
    async fn renew(&self, url: &str) -> Result<Option<String>> {
        let place = profiles_path()?;
        let _lock = lock(&place).await?;
        let mut profile = self.stored()?;
        let Some(tokens) = profile.tokens.take() else { return Ok(profile.key) };
        if tokens.are_fresh() {
            return Ok(Some(tokens.access));
        }
        let renewed = match AuthorizationServer::discover(url).await?.refresh(&tokens).await {
            Err(error) if error.downcast_ref::<LoginError>().is_some() => {
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

fn profiles_path() -> Result<PathBuf> {
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

/// Waits for the lock on the profiles, which is released when the file is dropped or the process ends.
async fn lock(place: &Path) -> Result<File> {
    let folder = place.parent().context("no folder for the profiles")?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = place.with_extension("lock");
    let file = File::create(&path).with_context(|| path.display().to_string())?;
    let locked = tokio::task::spawn_blocking(move || file.lock().map(|()| file)).await?;
    locked.with_context(|| path.display().to_string())
}
