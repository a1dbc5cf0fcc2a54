//! The addresses and the secret of the simulator of networks.

use fanfare_entities::WorkspaceId;
use fanfare_platforms::PlatformId;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use url::Url;

use crate::error::{Error, Result};

/// The number of bytes in a realm's name: enough that nobody can guess it.
const REALM_BYTES: usize = 16;

/// The simulator that serves requests with `sandbox: true`.
#[derive(Debug, Clone)]
pub struct Simulator {
    /// The origin for programs.
    pub url: Url,
    /// The origin of its pages.
    pub pages: Url,
    /// The secret of its control API, from which the names of realms are derived too.
    pub secret: SecretString,
}

impl Simulator {
    /// Returns the name of the realm that holds a workspace's networks. It is a secret of the workspace.
    ///
    /// # Errors
    /// None in practice: HMAC takes keys of any length.
    pub fn realm(&self, workspace: WorkspaceId) -> Result<String> {
        let key = self.secret.expose_secret().as_bytes();
        let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(Error::internal)?;
        mac.update(b"realm ");
        mac.update(workspace.0.as_bytes());
        let digest = mac.finalize().into_bytes();
        Ok(digest.iter().take(REALM_BYTES).map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns the secret of the simulated app of a network, which signs its webhooks.
    ///
    /// # Errors
    /// None in practice: HMAC takes keys of any length.
    pub fn app_secret(&self, platform: PlatformId) -> Result<SecretString> {
        let key = self.secret.expose_secret().as_bytes();
        let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(Error::internal)?;
        mac.update(format!("app {platform}").as_bytes());
        let digest = mac.finalize().into_bytes();
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(hex.into())
    }

    /// Returns the address of a workspace's network for programs.
    ///
    /// # Errors
    /// No path can be added to the simulator's address.
    pub fn network(&self, workspace: WorkspaceId, platform: PlatformId) -> Result<Url> {
        join(&self.url, &format!("{}/{platform}", self.realm(workspace)?))
    }

    /// Returns the address of a network's pages for the users of a workspace.
    ///
    /// # Errors
    /// As for [`Self::network`].
    pub fn pages_of(&self, workspace: WorkspaceId, platform: PlatformId) -> Result<Url> {
        join(&self.pages, &format!("{}/{platform}", self.realm(workspace)?))
    }

    /// Returns the address of a control call. Each segment stays one, whatever is in it.
    ///
    /// # Errors
    /// As for [`Self::network`].
    pub fn control(&self, segments: &[&str]) -> Result<Url> {
        let mut url = join(&self.url, "_control")?;
        let refused = || Error::internal("no path can be added to the simulator's address");
        url.path_segments_mut().map_err(|()| refused())?.extend(segments);
        Ok(url)
    }

    /// Returns the address at which a user finds what the simulator calls `url`.
    #[must_use]
    pub fn browser_url(&self, url: &str) -> String {
        let (own, shown) = (without_trailing_slash(&self.url), without_trailing_slash(&self.pages));
        match url.strip_prefix(own).filter(|rest| rest.starts_with('/')) {
            Some(rest) => format!("{shown}{rest}"),
            None => url.to_owned(),
        }
    }
}

fn without_trailing_slash(url: &Url) -> &str {
    url.as_str().trim_end_matches('/')
}

fn join(root: &Url, path: &str) -> Result<Url> {
    Url::parse(&format!("{}/{path}", without_trailing_slash(root))).map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use fanfare_entities::WorkspaceId;

    use super::Simulator;

    fn simulator(secret: &str) -> Simulator {
        let url = |text: &str| text.parse().unwrap();
        let (url, pages) = (url("http://127.0.0.1:8081"), url("https://pages.example/networks"));
        Simulator { url, pages, secret: secret.to_owned().into() }
    }

    #[test]
    fn a_realm_is_a_workspaces_own_and_follows_from_the_secret() {
        let (one, other) = (WorkspaceId::fresh(), WorkspaceId::fresh());
        let realm = simulator("s").realm(one).unwrap();
        assert_eq!(realm, simulator("s").realm(one).unwrap());
        assert_eq!(realm.len(), 32);
        assert_ne!(realm, simulator("s").realm(other).unwrap());
        assert_ne!(realm, simulator("t").realm(one).unwrap());
        assert!(!format!("{:?}", simulator("hush")).contains("hush"));
    }

    #[test]
    fn a_segment_of_a_control_call_leads_nowhere_else() {
        for odd in ["../accounts/7?realm=x", "a/b", "a?b", "a#b", "%2e%2e", "a%2fb", "\\..\\x"] {
            let url = simulator("s").control(&["facebook", "inbox", odd]).unwrap();
            assert_eq!(url.path_segments().unwrap().count(), 4, "{url}");
            assert!(url.path().starts_with("/_control/facebook/inbox/"), "{url}");
            assert_eq!((url.query(), url.fragment()), (None, None), "{url}");
        }
    }

    #[test]
    fn persons_are_led_to_the_pages() {
        let shown = |url: &str| simulator("s").browser_url(url);
        assert_eq!(shown("http://127.0.0.1:8081/r/x/1"), "https://pages.example/networks/r/x/1");
        assert_eq!(shown("http://127.0.0.1:80811/r"), "http://127.0.0.1:80811/r");
        assert_eq!(shown("https://x.com/1"), "https://x.com/1");
    }
}
