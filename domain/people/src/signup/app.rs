//! Signups that an app starts: once the signup is paid, the user is asked to grant the app access.

use fanfare_core::{
    Domain,
    error::{Code, Error, Result, Violations, violation},
};
use fanfare_entities::{Millis, UserId, signup, signup::Column, signup::SignupStatus};
use sea_orm::{
    ActiveEnum, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, sea_query::Expr,
};
use url::form_urlencoded;

use super::NewSignup;
use crate::oauth_provider::{self, OauthRefusal, Parameters};

/// The path of the consent page.
const AUTHORIZE: &str = "/api/oauth/authorize";

/// Returns the query of the consent page that follows the signup, or `None` if no app started it.
///
/// # Errors
/// All missing fields, or the first one that is wrong.
pub(super) async fn authorize_query(
    cx: &Domain,
    new: &NewSignup,
    address: &str,
) -> Result<Option<String>> {
    let needed = [
        ("client_id", &new.client_id),
        ("redirect_uri", &new.redirect_uri),
        ("code_challenge", &new.code_challenge),
    ];
    let optional = [
        ("code_challenge_method", &new.code_challenge_method),
        ("scope", &new.scope),
        ("state", &new.state),
        ("resource", &new.resource),
    ];
    if needed.iter().chain(&optional).all(|(_, value)| value.is_none()) {
        return Ok(None);
    }
    let mut missing = Violations::default();
    for (name, _) in needed.iter().filter(|(_, value)| value.is_none()) {
        missing.push_with(|| {
            let message =
                format!("{name} is missing: an app that signs somebody up sends all three.");
            let remedy = "Send client_id, redirect_uri and code_challenge, or none of them.";
            violation(Code::FieldRequired, *name, message, remedy)
        });
    }
    Error::check(missing)?;
    let mut sent = vec![("response_type".to_owned(), "code".to_owned())];
    let given = needed.iter().chain(&optional);
    sent.extend(given.filter_map(|(name, value)| Some(((*name).to_owned(), (*value).clone()?))));
    if new.code_challenge_method.is_none() {
        sent.push(("code_challenge_method".to_owned(), "S256".to_owned()));
    }
    let sent = Parameters(sent);
    oauth_provider::check_request(cx, &sent, address).await.map_err(refusal)?;
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&sent.0).finish();
    Ok(Some(query))
}

fn refusal(refused: OauthRefusal) -> Error {
    match refused {
        OauthRefusal::Service(error) => error,
        OauthRefusal::Flaw(flaw) => Error::field(
            Code::InvalidField,
            flaw.parameter,
            flaw.description,
            "Send what you would send to the authorization endpoint.",
        ),
    }
}

/// Returns the path of the consent page for the app that started a signup.
pub(super) fn authorize_path(row: &signup::Model) -> Option<String> {
    row.authorize_query.as_ref().map(|query| format!("{AUTHORIZE}?{query}"))
}

/// Completes the signups that an app started, once the user has granted it access.
pub(crate) async fn complete_for_app<C: ConnectionTrait>(
    conn: &C,
    person: UserId,
    client_id: &str,
    now: Millis,
) -> Result<()> {
    let waiting = signup::Entity::find()
        .filter(Column::UserId.eq(person))
        .filter(Column::AuthorizeQuery.is_not_null())
        .filter(Column::Status.is_in([SignupStatus::Paid, SignupStatus::Ready]))
        .all(conn)
        .await?;
    let is_by = |row: &signup::Model| {
        let query = row.authorize_query.as_deref().unwrap_or_default();
        Parameters::of(query.as_bytes()).is_ok_and(|sent| sent.get("client_id") == Some(client_id))
    };
    let ids: Vec<_> = waiting.iter().filter(|row| is_by(row)).map(|row| row.id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    signup::Entity::update_many()
        .col_expr(Column::Status, Expr::value(SignupStatus::Completed.to_value()))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::Id.is_in(ids))
        .exec(conn)
        .await?;
    Ok(())
}
