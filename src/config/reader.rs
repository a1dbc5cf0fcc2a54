//! Reads environment variables one by one, and refuses those that are left.

use std::{collections::BTreeMap, net::IpAddr, time::Duration};

use anyhow::{Context as _, Result, bail};
use fanfare_mail::Mailer;
use fanfare_people::billing::Plans;
use fanfare_platforms::{Overrides, PlatformId, VideoService, oauth::App};
use ipnet::IpNet;
use url::Url;

use super::*;

/// The variables that have not been read yet.
pub(super) struct VariableReader(pub(super) BTreeMap<String, String>);

impl VariableReader {
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    pub(super) fn parse<T: std::str::FromStr>(
        &mut self,
        name: &str,
        wanted: &str,
    ) -> Result<Option<T>> {
        let Some(text) = self.take(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| anyhow::anyhow!("{name} must be {wanted}, not {text:?}"))
    }

    pub(super) fn list(&mut self, name: &str) -> Vec<String> {
        let text = self.take(name).unwrap_or_default();
        text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
    }

    pub(super) fn networks(&mut self, name: &str) -> Result<Vec<IpNet>> {
        let parse = |item: String| {
            let network = item.parse().or_else(|_| item.parse::<IpAddr>().map(IpNet::from));
            network.map_err(|_| {
                anyhow::anyhow!(
                    "{name} must be networks like 10.0.0.0/8, separated by commas, not {item:?}"
                )
            })
        };
        self.list(name).into_iter().map(parse).collect()
    }

    pub(super) fn switch(&mut self, name: &str) -> Result<bool> {
        Ok(self.parse(name, "true or false")?.unwrap_or(false))
    }

    pub(super) fn on_or_off(&mut self, name: &str) -> Result<Option<bool>> {
        match self.take(name).as_deref() {
            None => Ok(None),
            Some("on") => Ok(Some(true)),
            Some("off") => Ok(Some(false)),
            Some(other) => bail!("{name} must be on or off, not {other:?}"),
        }
    }

    pub(super) fn duration(&mut self, name: &str) -> Result<Option<Duration>> {
        let Some(text) = self.take(name) else { return Ok(None) };
        humantime::parse_duration(&text)
            .map(Some)
            .map_err(|_| anyhow::anyhow!("{name} must be a duration like 2s or 24h, not {text:?}"))
    }

    pub(super) fn origin(&mut self, name: &str) -> Result<Option<String>> {
        let url: Option<Url> = self.parse(name, "an address like https://fanfare.example.com")?;
        Ok(url.map(|url| url.as_str().trim_end_matches('/').to_owned()))
    }

    pub(super) fn database(&mut self) -> Result<Option<String>> {
        let Some(url) = self.take("FANFARE_DATABASE_URL") else { return Ok(None) };
        if ["sqlite:", "postgres:", "postgresql:"].iter().any(|scheme| url.starts_with(scheme)) {
            return Ok(Some(url));
        }
        bail!("FANFARE_DATABASE_URL must begin with sqlite:// or postgres://");
    }

    pub(super) fn log_json(&mut self) -> Result<bool> {
        match self.take("FANFARE_LOG_FORMAT").as_deref() {
            None | Some("text") => Ok(false),
            Some("json") => Ok(true),
            Some(other) => bail!("FANFARE_LOG_FORMAT must be text or json, not {other:?}"),
        }
    }

    pub(super) fn failpoint(&mut self) -> Result<Option<String>> {
        use fanfare_core::failpoint::{
            ANALYSING, ANSWERING, CONNECTING, COPYING, DELIVERING, EXCHANGING, FILMING, MAILING,
            OUTGOING, PAYING, PUBLISHING, RECEIVING, REFRESHING, UPKEEP,
        };
        let place = self.take("FANFARE_FAILPOINT");
        let known = [
            PUBLISHING, COPYING, ANALYSING, DELIVERING, ANSWERING, RECEIVING, CONNECTING, UPKEEP,
            MAILING, OUTGOING, PAYING, FILMING, EXCHANGING, REFRESHING,
        ]
        .concat();
        let name = place.as_deref().map(|place| place.split(':').next().unwrap_or_default());
        match name {
            Some(name) if !known.contains(&name) => {
                bail!("FANFARE_FAILPOINT must be one of {}, not {name:?}", known.join(", "))
            }
            _ => Ok(place),
        }
    }

    /// Reads a header name that has no other meaning.
    pub(super) fn signature_header(&mut self) -> Result<Option<String>> {
        let name = "FANFARE_SIGNATURE_HEADER";
        let Some(header) = self.take(name) else { return Ok(None) };
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let lower = header.to_ascii_lowercase();
        if !lower.starts_with("x-") || lower.len() < 3 || !header.chars().all(fits) {
            bail!("{name} must be a header name that begins with X-, not {header:?}");
        }
        if lower.starts_with("x-fanfare-") {
            bail!("{name} must not be {header:?}: headers of that name are sent already");
        }
        Ok(Some(header))
    }

    /// Reads the versions of APIs and the permissions that replace those of this release.
    pub(super) fn overrides(&mut self) -> Result<Overrides> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        let is_graph = |text: &str| {
            let parts = text.strip_prefix('v').and_then(|text| text.split_once('.'));
            parts.is_some_and(|(major, minor)| is_number(major) && is_number(minor))
        };
        let is_month = |text: &str| text.len() == 6 && is_number(text);
        let graph_version = self.take("FANFARE_GRAPH_VERSION");
        if let Some(wrong) = graph_version.as_deref().filter(|text| !is_graph(text)) {
            bail!("FANFARE_GRAPH_VERSION must be a version like v27.0, not {wrong:?}");
        }
        let linkedin_version = self.take("FANFARE_LINKEDIN_VERSION");
        if let Some(wrong) = linkedin_version.as_deref().filter(|text| !is_month(text)) {
            bail!("FANFARE_LINKEDIN_VERSION must be a month like 202608, not {wrong:?}");
        }
        let linkedin_scopes = self.list("FANFARE_LINKEDIN_SCOPES");
        let is_scope = |text: &str| text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
        if let Some(wrong) = linkedin_scopes.iter().find(|text| !is_scope(text)) {
            bail!(
                "FANFARE_LINKEDIN_SCOPES must be permissions like r_member_postAnalytics, separated by commas, not {wrong:?}"
            );
        }
        Ok(Overrides { graph_version, linkedin_version, linkedin_scopes })
    }

    /// Reads where videos for Bluesky are sent to.
    pub(super) fn bluesky_video(&mut self) -> Result<VideoService> {
        let name = "FANFARE_BLUESKY_VIDEO_URL";
        match self.take(name).as_deref() {
            None => Ok(VideoService::Usual),
            Some("off") => Ok(VideoService::Off),
            Some(address) => {
                let usable = |url: &Url| {
                    matches!(url.scheme(), "http" | "https")
                        && url.has_host()
                        && url.query().is_none()
                };
                match Url::parse(address).ok().filter(usable) {
                    Some(url) => Ok(VideoService::At(url)),
                    None => bail!("{name} must be an http(s) address or off, not {address:?}"),
                }
            }
        }
    }

    pub(super) fn platform_urls(&mut self) -> Result<BTreeMap<PlatformId, Url>> {
        let mut urls = BTreeMap::new();
        for platform in fanfare_platforms::all() {
            let id = platform.spec().id;
            let name = id.as_str().to_uppercase();
            if let Some(url) = self.parse(&format!("FANFARE_{name}_URL"), "an http(s) address")? {
                urls.insert(id, url);
            }
        }
        Ok(urls)
    }

    /// Reads id and secret of each app. Half of a pair is an error, which otherwise would show only when a user
    /// connects.
    pub(super) fn apps(&mut self) -> Result<BTreeMap<PlatformId, App>> {
        let mut apps = BTreeMap::new();
        for platform in fanfare_platforms::all() {
            let id = platform.spec().id;
            let [id_name, secret_name] = id.app_variables();
            match (self.take(&id_name), self.take(&secret_name)) {
                (None, None) => {}
                (Some(client_id), Some(secret)) => {
                    apps.insert(id, App { client_id, client_secret: secret.into() });
                }
                _ => bail!("{id_name} and {secret_name} must be set together"),
            }
        }
        Ok(apps)
    }

    /// Reads the Stripe account. A key without the secret of its webhooks is an error, since payments would go
    /// unnoticed.
    pub(super) fn stripe(&mut self) -> Result<Option<StripeConfig>> {
        let url = self.parse("FANFARE_STRIPE_URL", "an address like https://api.stripe.com")?;
        let key = self.take("FANFARE_STRIPE_SECRET_KEY");
        let secrets = self.list("FANFARE_STRIPE_WEBHOOK_SECRET");
        match (key, secrets.is_empty()) {
            (None, true) if url.is_none() => Ok(None),
            (Some(key), false) => Ok(Some(StripeConfig {
                url: url.unwrap_or(Url::parse("https://api.stripe.com")?),
                secret_key: key.into(),
                webhook_secrets: secrets.into_iter().map(Into::into).collect(),
            })),
            _ => bail!(
                "FANFARE_STRIPE_SECRET_KEY and FANFARE_STRIPE_WEBHOOK_SECRET must be set together"
            ),
        }
    }

    pub(super) fn plans(&mut self) -> Result<Plans> {
        let Some(path) = self.take("FANFARE_PLANS") else { return Ok(Plans::built_in()?) };
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("FANFARE_PLANS {path}"))?;
        Plans::parse(&text).context("FANFARE_PLANS")
    }

    pub(super) fn signup_open(&mut self) -> Result<bool> {
        match self.take("FANFARE_SIGNUP").as_deref() {
            None | Some("open") => Ok(true),
            Some("closed") => Ok(false),
            Some(other) => bail!("FANFARE_SIGNUP must be open or closed, not {other:?}"),
        }
    }

    pub(super) fn oauth_grace(&mut self) -> Result<Duration> {
        let grace = self.duration("FANFARE_OAUTH_GRACE")?.unwrap_or(Duration::from_secs(30));
        if grace > Duration::from_secs(60) {
            bail!(
                "FANFARE_OAUTH_GRACE must be at most 60s: for so long a stolen token would be good"
            );
        }
        Ok(grace)
    }

    pub(super) fn mailer(&mut self) -> Result<Option<Mailer>> {
        match (self.take("FANFARE_SMTP_URL"), self.take("FANFARE_MAIL_FROM")) {
            (None, None) => Ok(None),
            (Some(url), Some(from)) => Mailer::new(&url.into(), &from)
                .map(Some)
                .context("FANFARE_SMTP_URL and FANFARE_MAIL_FROM"),
            _ => bail!("FANFARE_SMTP_URL and FANFARE_MAIL_FROM must be set together"),
        }
    }

    pub(super) fn ignore(&mut self, names: &[&str]) {
        for name in names {
            self.take(name);
        }
    }

    pub(super) fn refuse_rest(&self) -> Result<()> {
        let Some(name) = self.0.keys().next() else { return Ok(()) };
        let nearest = VARIABLES
            .iter()
            .map(|(known, _)| (strsim::damerau_levenshtein(name, known), *known))
            .min()
            .map_or("", |(_, known)| known);
        bail!(
            "{name} is not a variable of Fanfare; did you mean {nearest}? `fanfare up --help` names them all"
        );
    }
}
