//! The connected accounts of a workspace, to choose from.

use fanfare_core::Result;
use fanfare_entities::AccountId;
use fanfare_publishing::{
    accounts::{Account, AccountPage},
    platforms,
};
use maud::{Markup, html};
use serde_json::json;

use super::{marks::account_name, operation, page_member::PageMember};
use crate::oauth_connect::Visit;

/// The accounts that the user sees.
pub struct AccountChoices {
    /// The accounts, oldest first.
    pub accounts: Vec<Account>,
}

impl AccountChoices {
    /// Returns the accounts of the workspace.
    ///
    /// # Errors
    /// The database's.
    pub async fn of(visit: &Visit, seat: &PageMember) -> Result<Self> {
        let here = seat.act.membership.workspace_id;
        let page: AccountPage =
            operation::list(visit, "list_accounts", json!({"workspace_id": here})).await?;
        Ok(Self { accounts: page.accounts })
    }

    /// Keeps only the accounts on these networks.
    pub fn on(mut self, platforms: &[&str]) -> Self {
        self.accounts.retain(|one| platforms.contains(&one.platform.as_str()));
        self
    }

    /// Returns the name of an account with its network.
    pub fn name(&self, id: AccountId) -> String {
        let found = self.accounts.iter().find(|one| one.id == id);
        found.map_or_else(|| format!("account {id}"), label)
    }

    /// Returns the field of a filter that chooses an account.
    pub fn field(&self, chosen: Option<&str>) -> Markup {
        html! {
            div.field {
                label for="account" { "Account" }
                select #account name="account_id" {
                    option value="" { "All accounts" }
                    @for one in &self.accounts {
                        option value=(one.id) selected[chosen == Some(one.id.to_string().as_str())] { (label(one)) }
                    }
                }
            }
        }
    }
}

fn label(account: &Account) -> String {
    format!("{} on {}", account_name(&account.username), platforms::label(&account.platform))
}
