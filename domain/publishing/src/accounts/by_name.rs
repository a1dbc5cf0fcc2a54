//! Finds accounts by their names, which older clients send instead of ids.

use fanfare_core::{
    Domain, RefusalDetails,
    access::Membership,
    error::{Code, Error, Result, excerpt},
};
use fanfare_entities::{account, account::AccountStatus};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Map, Value};

/// Returns true if the fields name an account by `username` and `platform`.
#[must_use]
pub fn has_username(fields: &Map<String, Value>) -> bool {
    ["username", "platform"].iter().all(|name| fields.get(*name).is_some_and(Value::is_string))
}

/// Replaces `username` and `platform` by the `account_id` of the account.
///
/// # Errors
/// [`Code::AccountNotFound`], [`Code::AmbiguousAccount`], or [`Code::ConflictingFields`] if `account_id` names another
/// account.
pub async fn resolve_account_id(
    cx: &Domain,
    membership: &Membership,
    fields: &mut Map<String, Value>,
) -> Result<()> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (username, platform) = (text("username"), text("platform"));
    let rows = account::Entity::find()
        .filter(account::Column::WorkspaceId.eq(membership.workspace_id))
        .filter(account::Column::Platform.eq(platform.as_str()))
        .filter(account::Column::Status.ne(AccountStatus::Disconnected))
        .all(&cx.db.read)
        .await?;
    let wanted = normalized(&username);
    let of_name =
        |row: &account::Model| normalized(&row.username) == wanted && membership.sees(row.brand_id);
    let found: Vec<i64> = rows.into_iter().filter(of_name).map(|row| row.id.0).collect();
    let name = excerpt(&username);
    let id = match found.as_slice() {
        [only] => *only,
        [] => {
            let message = format!("There is no account {name:?} on {}.", excerpt(&platform));
            return Err(Error::new(Code::AccountNotFound, message));
        }
        _ => {
            let message =
                format!("Several accounts on {} are called {name:?}.", excerpt(&platform));
            let details = RefusalDetails { account_ids: Some(found), ..RefusalDetails::default() };
            return Err(Error::new(Code::AmbiguousAccount, message).with_details(details));
        }
    };
    if fields.get("account_id").is_some_and(|given| !is_id(given, id)) {
        return Err(Error::field(
            Code::ConflictingFields,
            "account_id",
            format!("account_id is another account than {name:?}."),
            "Send account_id alone.",
        ));
    }
    fields.remove("username");
    fields.remove("platform");
    fields.insert("account_id".to_owned(), id.into());
    Ok(())
}

fn is_id(given: &Value, id: i64) -> bool {
    given.as_i64().or_else(|| given.as_str()?.parse().ok()) == Some(id)
}

/// Returns a name in lower case and without `@`.
fn normalized(name: &str) -> String {
    name.trim().trim_start_matches('@').to_lowercase()
}
