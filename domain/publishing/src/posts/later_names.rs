//! Names that a network tells of a post after it was published.

use fanfare_core::{Tx, error::Result};
use fanfare_entities::{post, post_name};
use fanfare_platforms::WarningCode;
use sea_orm::{ActiveModelTrait, ActiveValue::Set, EntityTrait, sea_query::OnConflict};
use serde_json::{Value, json};

use crate::{
    accounts::browser_url,
    lost_calls::{Owner, register},
    posts::event,
};

/// Adds further names of a post, by which lists and webhooks may call it, and notes that they are ours. The first post that
/// has a name keeps it.
///
/// # Errors
/// The database's.
pub async fn add_names(tx: &Tx, post: &post::Model, names: &[String]) -> Result<()> {
    let is_new = |name: &&String| {
        !name.is_empty() && post.platform_post_id.as_deref() != Some(name.as_str())
    };
    for name in names.iter().filter(is_new) {
        let row = post_name::ActiveModel {
            account_id: Set(post.account_id),
            remote_id: Set(name.clone()),
            post_id: Set(post.id),
        };
        let known =
            OnConflict::columns([post_name::Column::AccountId, post_name::Column::RemoteId])
                .do_nothing()
                .to_owned();
        post_name::Entity::insert(row).on_conflict(known).exec_without_returning(tx.conn()).await?;
        let owner = Owner::Post(post.id.0);
        register::record(tx.conn(), post.account_id, owner, name, tx.now()).await?;
    }
    Ok(())
}

/// Writes the id that a network gave a post once others could see it, in place of the name that it had until then, which
/// becomes a further one. What was said of its being seen by fewer is over.
///
/// # Errors
/// The database's.
pub async fn set_public_id(
    tx: &mut Tx,
    post: post::Model,
    id: String,
    url: Option<String>,
) -> Result<post::Model> {
    let before: Vec<String> = post.platform_post_id.iter().cloned().collect();
    let seen = |warning: &&Value| warning["code"] != json!(WarningCode::VisibilityDiffers);
    let warnings = post
        .warnings
        .as_ref()
        .and_then(Value::as_array)
        .map(|all| json!(all.iter().filter(seen).collect::<Vec<_>>()));
    let url = url.map(|url| browser_url(tx.domain(), url));
    let changed = post::ActiveModel {
        id: Set(post.id),
        platform_post_id: Set(Some(id.clone())),
        platform_post_url: Set(url.or(post.platform_post_url)),
        warnings: Set(warnings.filter(|all| *all != json!([]))),
        ..Default::default()
    };
    let post = changed.update(tx.conn()).await?;
    let owner = Owner::Post(post.id.0);
    register::record(tx.conn(), post.account_id, owner, &id, tx.now()).await?;
    add_names(tx, &post, &before).await?;
    let message =
        format!("{} shows the post to others now, under an id of its own.", post.platform);
    let updated = event(tx.domain(), "post.updated", &post, message, None);
    tx.emit(updated);
    Ok(post)
}
