//! What a deletion has removed and kept.

use std::collections::BTreeMap;

use fanfare_entities::AccountId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was removed where, and what stays. It names nobody.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DeletionReceipt")]
pub struct Receipt {
    /// The number of removed rows, by table.
    pub removed: BTreeMap<String, u64>,
    /// The number of removed files.
    pub files: u64,
    /// The access to accounts on networks.
    pub tokens: Tokens,
    /// The number of rows that stay without content, by table.
    pub kept: BTreeMap<String, u64>,
}

/// What became of the access to accounts on networks. The service has forgotten all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DeletedTokens")]
pub struct Tokens {
    /// The number of accounts whose network has revoked the access.
    pub revoked: u64,
    /// The number of accounts whose network has no call for that.
    pub without_a_call: u64,
    /// The accounts whose network did not revoke it; it ends by itself, or in the settings of the account there.
    pub not_revoked: Vec<AccountNotRevoked>,
}

/// An account whose network did not revoke the access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct AccountNotRevoked {
    /// The id that the account had.
    pub account_id: i64,
    /// The platform.
    pub platform: String,
}

impl Receipt {
    /// Notes removed rows of a table.
    pub(super) fn add_removed(&mut self, table: &str, rows: u64) {
        add(&mut self.removed, table, rows);
    }

    /// Notes rows of a table that stay without content.
    pub(super) fn add_kept(&mut self, table: &str, rows: u64) {
        add(&mut self.kept, table, rows);
    }

    /// Notes an account whose network did not revoke the access.
    pub(super) fn add_not_revoked(&mut self, id: AccountId, platform: &str) {
        let platform = platform.to_owned();
        self.tokens.not_revoked.push(AccountNotRevoked { account_id: id.0, platform });
    }
}

fn add(counts: &mut BTreeMap<String, u64>, table: &str, rows: u64) {
    if rows > 0 {
        *counts.entry(table.to_owned()).or_default() += rows;
    }
}
