//! The connected accounts of a workspace, to choose from.

use fanfare_core::Result;
use fanfare_publishing::platforms::label;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use super::{marks::account_name, operation, page_member::PageMember};
use crate::oauth_connect::Visit;

/// The accounts that the user sees.
#[derive(Deserialize)]
pub struct AccountChoices {
    /// The accounts, oldest first.
    pub accounts: Vec<AccountName>,
}

/// An account, as it is named on pages.
#[derive(Deserialize)]
pub struct AccountName {
    /// Its id.
    pub id: i64,
    /// Its network.
    pub platform: String,
    /// Its name there.
    pub username: String,
}

impl AccountChoices {
    /// Returns the accounts of the workspace.
    ///
    /// # Errors
    /// The database's.
    pub async fn of(visit: &Visit, seat: &PageMember) -> Result<Self> {
        let here = seat.act.membership.workspace_id;
        operation::read(visit, "list_accounts", json!({"workspace_id": here})).await
    }

    /// Keeps only the accounts on these networks.
    pub fn on(mut self, platforms: &[&str]) -> Self {
        self.accounts.retain(|one| platforms.contains(&one.platform.as_str()));
        self
    }

    /// Returns the name of an account with its network.
    pub fn name(&self, id: i64) -> String {
        let found = self.accounts.iter().find(|one| one.id == id);
        found.map_or_else(|| format!("account {id}"), AccountName::label)
    }

    /// Returns the field of a filter that chooses an account.
    pub fn field(&self, chosen: Option<&str>) -> Markup {
        html! {
            div.field {
                label for="account" { "Account" }
                select #account name="account_id" {
                    option value="" { "All accounts" }
                    @for one in &self.accounts {
                        option value=(one.id) selected[chosen == Some(one.id.to_string().as_str())] { (one.label()) }
                    }
                }
            }
        }
    }
}

impl AccountName {
    fn label(&self) -> String {
        format!("{} on {}", account_name(&self.username), label(&self.platform))
    }
}
