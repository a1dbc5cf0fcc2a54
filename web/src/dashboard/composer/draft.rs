//! The content of the composer's form.

use fanfare_api::query::Pairs;
use fanfare_core::{AccountId, Result, access::Role};
use fanfare_entities::account;
use fanfare_publishing::{accounts, posts::sets::MAX_TARGETS};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    files::{self, File},
    settings,
};
use crate::{
    dashboard::{page_member::PageMember, parts},
    oauth_connect::Visit,
};

/// The most accounts that are read from the form: one more than a set has, so that too many are refused, not dropped.
const MOST: usize = MAX_TARGETS + 1;

/// The form as it was sent.
pub struct Draft {
    /// Identifies this form, so that one that is sent twice creates its post, or its set, once.
    pub once: Uuid,
    /// The chosen accounts.
    pub accounts: Vec<i64>,
    /// The text.
    pub caption: String,
    /// The files, in their order.
    pub media: Vec<File>,
    /// The time in the workspace's zone, as the form has it.
    pub at: Option<String>,
    /// `draft`, `schedule`, `publish` or `check`.
    pub step: String,
    /// All fields as they were sent.
    pub fields: Pairs,
}

impl Draft {
    /// Reads a link that prefills the form.
    pub fn from_link(visit: &Visit) -> Self {
        let account = visit.query("account_id").and_then(|id| id.parse().ok());
        Self {
            once: Uuid::now_v7(),
            accounts: account.into_iter().collect(),
            caption: visit.query("caption").unwrap_or_default().to_owned(),
            media: Vec::new(),
            at: visit.query("at").map(str::to_owned),
            step: "check".to_owned(),
            fields: Pairs::new(),
        }
    }

    /// Reads the form.
    pub fn from_form(visit: &Visit) -> Self {
        let ids = parts::ticked(visit, "account_id");
        let text = visit.form.iter().find(|(name, _)| name == "caption");
        Self {
            once: visit
                .form("once")
                .and_then(|once| once.parse().ok())
                .unwrap_or_else(Uuid::now_v7),
            accounts: ids.iter().filter_map(|id| id.parse().ok()).take(MOST).collect(),
            caption: text.map_or_else(String::new, |(_, text)| text.replace("\r\n", "\n")),
            media: files::read(&visit.form),
            at: visit.form("scheduled_at").map(str::to_owned),
            step: "check".to_owned(),
            fields: visit.form.clone(),
        }
    }

    /// Returns true if nothing was filled in.
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty() && self.caption.is_empty() && self.at.is_none()
    }

    /// Gives the form a new id, for another request.
    pub fn renew(&mut self) {
        self.once = Uuid::now_v7();
    }

    /// Returns the value of a field of the form.
    pub fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns the chosen accounts that the user sees.
    ///
    /// # Errors
    /// The database's.
    pub async fn chosen(&self, seat: &PageMember) -> Result<Vec<account::Model>> {
        let mut rows = accounts::all(&seat.act).await?;
        rows.retain(|row| self.accounts.contains(&row.id.0));
        Ok(rows)
    }

    /// Returns the text that an account has in place of the shared one, if it has any.
    pub fn own_text(&self, account: &account::Model) -> Option<String> {
        let name = own_text_field(account);
        let found = self.fields.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| text.replace("\r\n", "\n")).filter(|text| !text.trim().is_empty())
    }

    /// Returns the text of the post on an account.
    pub fn text_on(&self, account: &account::Model) -> String {
        self.own_text(account).unwrap_or_else(|| self.caption.clone())
    }

    /// Returns the body of the request that creates the post on an account.
    ///
    /// # Errors
    /// The account is gone.
    pub async fn body(&self, seat: &PageMember, account: &account::Model) -> Result<Value> {
        let AccountId(id) = account.id;
        let mut body = json!({"account_id": id, "caption": self.text_on(account)});
        self.put_common(seat, &mut body);
        self.put_settings(seat, account, &mut body).await?;
        Ok(body)
    }

    /// Returns the body of the request that creates a set with a target on each of these accounts, in their order.
    ///
    /// # Errors
    /// An account is gone.
    pub async fn set_body(&self, seat: &PageMember, accounts: &[account::Model]) -> Result<Value> {
        let mut targets = Vec::with_capacity(accounts.len());
        for account in accounts {
            let AccountId(id) = account.id;
            let mut target = json!({"account_id": id});
            if let Some(text) = self.own_text(account) {
                target["caption"] = json!(text);
            }
            self.put_settings(seat, account, &mut target).await?;
            targets.push(target);
        }
        let mut body = json!({"targets": targets, "caption": self.caption});
        self.put_common(seat, &mut body);
        Ok(body)
    }

    /// Adds the files, the time and the status.
    fn put_common(&self, seat: &PageMember, body: &mut Value) {
        if !self.media.is_empty() {
            body["media_urls"] = self.media.iter().map(|file| json!(file.url)).collect();
        }
        let is_timed = self.step != "publish" && seat.may(Role::Publisher);
        if let Some(at) = self.at.as_ref().filter(|_| is_timed) {
            body["scheduled_at"] = json!(at);
            body["timezone"] = json!(seat.zone());
        }
        if self.step == "draft" || !seat.may(Role::Publisher) {
            body["status"] = json!("draft");
        }
    }

    /// Adds the type and the settings that were filled in for an account.
    async fn put_settings(
        &self,
        seat: &PageMember,
        account: &account::Model,
        body: &mut Value,
    ) -> Result<()> {
        let (post_type, settings) = settings::values(seat, self, account).await?;
        if let Some(post_type) = post_type {
            body["post_type"] = json!(post_type);
        }
        if !settings.is_empty() {
            body["settings"] = Value::Object(settings);
        }
        Ok(())
    }
}

/// Returns the name of the field with the text that an account has of its own.
pub fn own_text_field(account: &account::Model) -> String {
    format!("own.{}.caption", account.id)
}
