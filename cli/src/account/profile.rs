//! Profiles: the address of a service, and the API key or log-in for it.
//!
//! They are stored in `$XDG_CONFIG_HOME/fanfare/profiles.toml`, readable by their owner only. A command that changes
//! them holds a lock on a file beside it, so that of two concurrent commands only one renews the log-in.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use etcetera::{BaseStrategy, choose_base_strategy};
use serde::{Deserialize, Serialize};
use url::{Host, Url};

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

/// Returns true if a text is the address of a service.
fn is_origin(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| ["http", "https"].contains(&url.scheme()) && url.has_host())
}

/// Returns true if what is sent to an address goes through a network unencrypted.
fn is_open_to_listeners(address: &str) -> bool {
    let Ok(url) = Url::parse(address) else { return false };
    let stays_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => true,
    };
    url.scheme() == "http" && !stays_here
}

impl ProfileOptions {
    fn name(&self) -> &str {
        self.profile.as_deref().unwrap_or("default")
    }

    /// Returns the origin of the service: that of the options, else of the profile.
    ///
    /// # Errors
    /// The file of the profiles cannot be read, or it is no address.
    pub fn origin(&self) -> Result<String> {
        let url = match &self.url {
            Some(url) => Some(url.clone()),
            None => self.stored()?.url,
        };
        let url = url.unwrap_or_else(|| DEFAULT_URL.to_owned());
        if !is_origin(&url) {
            bail!(
                "{url:?} is no address of a service: write it as http://127.0.0.1:8080 or https://fanfare.example"
            );
        }
        Ok(url.trim_end_matches('/').to_owned())
    }

    /// Returns the service of a command, with an access token that is valid for at least a minute.
    ///
    /// # Errors
    /// The file of the profiles cannot be read or written; the log-in has ended or could not be renewed.
    pub async fn target(&self) -> Result<Target> {
        let target = self.found_target().await?;
        if !target.key.is_empty() && is_open_to_listeners(&target.url) {
            let _ = writeln!(
                std::io::stderr(),
                "Warning: {} is not https, so everybody on the way can read your key. Use https.",
                target.url
            );
        }
        Ok(target)
    }

    async fn found_target(&self) -> Result<Target> {
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

    /// Returns the service with another access token than `refused`, which the service did not take; `None` if the command
    /// has no log-in that can be renewed.
    ///
    /// # Errors
    /// The file of the profiles cannot be read or written; the log-in has ended or could not be renewed.
    pub async fn renewed(&self, refused: &Target) -> Result<Option<Target>> {
        let is_stored = self.stored()?.tokens.is_some_and(|tokens| tokens.access == refused.key);
        if self.key.is_some() || !is_stored {
            return Ok(None);
        }
        let url = refused.url.clone();
        let key = self.renew_unless(&url, |tokens| tokens.access != refused.key).await?;
        Ok(key.map(|key| Target { url, key }))
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
        self.renew_unless(url, Tokens::are_fresh).await
    }

    /// Renews the access token, unless the stored one is good.
    async fn renew_unless(
        &self,
        url: &str,
        is_good: impl Fn(&Tokens) -> bool,
    ) -> Result<Option<String>> {
        let place = profiles_path()?;
        let _lock = lock(&place).await?;
        let mut profile = self.stored()?;
        let Some(tokens) = profile.tokens.take() else { return Ok(profile.key) };
        if is_good(&tokens) {
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

#[cfg(test)]
mod tests {
    use super::{is_open_to_listeners, is_origin};

    #[test]
    fn an_address_has_its_scheme() {
        for (text, is) in [
            ("http://127.0.0.1:8080", true),
            ("https://fanfare.example/", true),
            ("127.0.0.1:8080", false),
            ("localhost:8080", false),
            ("fanfare.example", false),
            ("", false),
        ] {
            assert_eq!(is_origin(text), is, "{text}");
        }
    }

    #[test]
    fn only_http_to_other_machines_is_open_to_listeners() {
        for open in ["http://fanfare.example", "http://192.168.1.7:8080", "http://[2001:db8::1]"] {
            assert!(is_open_to_listeners(open), "{open}");
        }
        for fine in [
            "https://fanfare.example",
            "http://127.0.0.1:8080",
            "http://localhost",
            "http://[::1]:7",
            "x",
        ] {
            assert!(!is_open_to_listeners(fine), "{fine}");
        }
    }
}
