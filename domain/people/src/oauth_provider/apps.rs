//! OAuth clients that users create as their own apps.

use std::collections::BTreeMap;

use fanfare_core::{
    Domain, Tx,
    access::Scope,
    audit_trail::{self, Author, Change},
    error::{Code, Error, Result, Violations, violation, wrong_count},
    input::text::{self, TextRule},
    user_lock,
};
use fanfare_entities::{
    Millis, UserId, oauth_client,
    oauth_client::{ClientKind, Column},
    oauth_grant,
};
use schemars::JsonSchema;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect,
};
use serde::Deserialize;
use serde_json::json;

use super::{document::plain_name, grants, redirect_uri, scopes};
use crate::keys::{parse_scopes, random};

/// The most apps of one user.
const MAX_APPS: u64 = 20;

/// An app to be created.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewApp {
    /// Its name, as users see it on the consent page.
    #[schemars(length(min = 1, max = 100))]
    pub client_name: String,
    /// The addresses that users are sent back to, compared character by character: https, http on `127.0.0.1`, `[::1]`
    /// or `localhost`, or a private scheme with a dot. An address on one of these three hosts matches every port.
    #[schemars(length(min = 1, max = 10), inner(length(max = 2_000)))]
    pub allowed_redirect_uris: Vec<String>,
    /// The scopes it asks for if a request names none; all but the two of billing if left out.
    #[serde(default)]
    #[schemars(with = "Vec<String>", length(max = 20), inner(length(max = 64)))]
    pub default_scopes: Option<Vec<String>>,
}

/// Changes of an app; what is left out stays.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppChanges {
    /// Its name.
    #[serde(default, deserialize_with = "fanfare_core::input::never_null")]
    #[schemars(with = "String", length(min = 1, max = 100))]
    pub client_name: Option<String>,
    /// The addresses that users are sent back to.
    #[serde(default, deserialize_with = "fanfare_core::input::never_null")]
    #[schemars(with = "Vec<String>", length(min = 1, max = 10), inner(length(max = 2_000)))]
    pub allowed_redirect_uris: Option<Vec<String>>,
    /// The scopes it asks for if a request names none.
    #[serde(default, deserialize_with = "fanfare_core::input::never_null")]
    #[schemars(length(max = 20), inner(length(max = 64)))]
    pub default_scopes: Option<Vec<String>>,
}

/// An app of a user.
#[derive(Debug, Clone)]
pub struct App {
    /// Its id.
    pub client_id: String,
    /// Its name.
    pub client_name: String,
    /// The addresses that users are sent back to.
    pub redirect_uris: Vec<String>,
    /// The scopes it asks for if a request names none.
    pub scopes: Vec<Scope>,
    /// The number of its active grants.
    pub grants: u64,
    /// The time at which it was created.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

impl App {
    fn of(row: oauth_client::Model, grants: u64) -> Self {
        Self {
            redirect_uris: row.redirect_uris.lines().map(str::to_owned).collect(),
            scopes: scopes::parse_scopes(&row.scopes),
            client_id: row.client_id,
            client_name: row.name,
            grants,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// Returns the apps of a user, oldest first.
///
/// # Errors
/// The database's.
pub async fn list_apps(cx: &Domain, owner: UserId) -> Result<Vec<App>> {
    let rows = oauth_client::Entity::find()
        .filter(Column::OwnerId.eq(owner))
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::ClientId)
        .all(&cx.db.read)
        .await?;
    let counts = count_grants(&cx.db.read, rows.iter().map(|row| row.client_id.clone())).await?;
    let count = |id: &str| counts.get(id).copied().unwrap_or(0);
    Ok(rows
        .into_iter()
        .map(|row| (count(&row.client_id), row))
        .map(|(n, row)| App::of(row, n))
        .collect())
}

/// Returns the number of active grants of each of these clients.
async fn count_grants<C: ConnectionTrait>(
    conn: &C,
    ids: impl Iterator<Item = String>,
) -> Result<BTreeMap<String, u64>> {
    use oauth_grant::Column as Granted;
    let counted: Vec<(String, i64)> = oauth_grant::Entity::find()
        .select_only()
        .column(Granted::ClientId)
        .column_as(Granted::Id.count(), "many")
        .filter(Granted::ClientId.is_in(ids))
        .filter(Granted::EndedAt.is_null())
        .group_by(Granted::ClientId)
        .into_tuple()
        .all(conn)
        .await?;
    Ok(counted.into_iter().map(|(id, many)| (id, many.unsigned_abs())).collect())
}

/// Creates an app.
///
/// # Errors
/// Everything that is wrong with the app, or [`Code::ClientLimit`].
pub async fn create_app(tx: &Tx, author: &Author, owner: UserId, new: NewApp) -> Result<App> {
    let mut broken = Violations::default();
    let name = check_name(&new.client_name, &mut broken);
    check_uris(&new.allowed_redirect_uris, &mut broken);
    let scopes = match &new.default_scopes {
        Some(named) => parse_scopes("default_scopes", named, &mut broken),
        None => Scope::default_set(),
    };
    Error::check(broken)?;
    // The user is locked, so that two requests at once do not exceed the limit.
    user_lock::lock(tx.conn(), owner).await?;
    let theirs = oauth_client::Entity::find().filter(Column::OwnerId.eq(owner));
    let theirs = theirs.count(tx.conn()).await?;
    if theirs >= MAX_APPS {
        let message = format!("You have {MAX_APPS} apps, which is the most. Delete one first.");
        return Err(Error::new(Code::ClientLimit, message));
    }
    let now = tx.now();
    let row = oauth_client::Model {
        client_id: format!("app_{}", random(24)),
        kind: ClientKind::App,
        owner_id: Some(owner),
        name,
        redirect_uris: new.allowed_redirect_uris.join("\n"),
        scopes: scopes::join_scopes(&scopes),
        failure: None,
        fresh_until: None,
        created_at: now,
        updated_at: now,
    };
    let made = row.clone().into_active_model().reset_all();
    oauth_client::Entity::insert(made).exec_without_returning(tx.conn()).await?;
    note(tx, author, ("app_created", &row)).await?;
    Ok(App::of(row, 0))
}

/// Changes an app.
///
/// # Errors
/// Everything that is wrong with the changes, or [`Code::ClientNotFound`].
pub async fn update_app(
    tx: &Tx,
    author: &Author,
    owner: UserId,
    client_id: &str,
    changes: AppChanges,
) -> Result<App> {
    let mut row = find(tx, owner, client_id).await?;
    let mut broken = Violations::default();
    if let Some(said) = &changes.client_name {
        row.name = check_name(said, &mut broken);
    }
    if let Some(uris) = &changes.allowed_redirect_uris {
        check_uris(uris, &mut broken);
        row.redirect_uris = uris.join("\n");
    }
    if let Some(named) = &changes.default_scopes {
        row.scopes = scopes::join_scopes(&parse_scopes("default_scopes", named, &mut broken));
    }
    Error::check(broken)?;
    row.updated_at = tx.now();
    let changed = row.clone().into_active_model().reset_all();
    oauth_client::Entity::update(changed).exec(tx.conn()).await?;
    note(tx, author, ("app_changed", &row)).await?;
    let counted = count_grants(tx.conn(), [row.client_id.clone()].into_iter()).await?;
    let many = counted.get(&row.client_id).copied().unwrap_or(0);
    Ok(App::of(row, many))
}

/// Deletes an app, which ends its grants.
///
/// # Errors
/// [`Code::ClientNotFound`].
pub async fn delete_app(tx: &Tx, author: &Author, owner: UserId, client_id: &str) -> Result<()> {
    let row = find(tx, owner, client_id).await?;
    grants::end_of_app(tx.conn(), &row.client_id, tx.now()).await?;
    oauth_client::Entity::delete_by_id(row.client_id.as_str()).exec(tx.conn()).await?;
    note(tx, author, ("app_deleted", &row)).await
}

/// Writes what was done to an app into the audit log. It belongs to a person and to no workspace.
async fn note(
    tx: &Tx,
    author: &Author,
    (action, row): (&'static str, &oauth_client::Model),
) -> Result<()> {
    let scopes: Vec<_> = row.scopes.split(' ').collect();
    let uris: Vec<_> = row.redirect_uris.lines().collect();
    let target = format!("client:{}", row.client_id);
    let details = json!({"scopes": scopes, "redirect_uris": uris});
    let change = Change { action, target, workspace: None, details };
    audit_trail::write(tx.conn(), author, change, tx.now()).await
}

async fn find(tx: &Tx, owner: UserId, client_id: &str) -> Result<oauth_client::Model> {
    let found = oauth_client::Entity::find_by_id(client_id)
        .filter(Column::OwnerId.eq(owner))
        .lock_exclusive()
        .one(tx.conn())
        .await?;
    found.ok_or_else(|| Error::new(Code::ClientNotFound, "You have no app with this id."))
}

fn check_name(said: &str, broken: &mut Violations) -> String {
    let plain = plain_name(said);
    if plain.is_empty() {
        let message = "client_name is empty.".to_owned();
        broken.push_with(|| violation(Code::FieldRequired, "client_name", message, "Send a name."));
    } else if let Some(flaw) = text::problem("client_name", said, TextRule::line(100)) {
        broken.push_with(|| flaw);
    }
    plain
}

fn check_uris(uris: &[String], broken: &mut Violations) {
    const FIELD: &str = "allowed_redirect_uris";
    if !(1..=10).contains(&uris.len()) {
        broken.push_with(|| wrong_count(FIELD, uris.len(), &(1..=10)));
    }
    for (place, uri) in uris.iter().take(10).enumerate() {
        if let Err(why) = redirect_uri::check(uri) {
            let field = format!("{FIELD}[{place}]");
            let remedy = "Send an address like https://example.com/callback.";
            broken.push_with(|| violation(Code::InvalidField, field, why, remedy));
        }
    }
}
