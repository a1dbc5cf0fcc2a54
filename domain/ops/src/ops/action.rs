//! All actions of operators: previewed, carried out once, and recorded in the audit log.

use std::collections::BTreeSet;

use fanfare_core::{
    Domain, Tx,
    error::{Code, Error, Result},
};
use fanfare_entities::{PostId, WebhookId};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    Moderation, audit, board, failing_webhooks, fleet, pauses, pauses::PauseTarget, retry,
};

/// The longest reason, in characters.
const LONGEST_REASON: usize = 500;

/// The actor: the operator and the request.
#[derive(Debug, Clone)]
pub struct Actor {
    /// An operator's e-mail address, or `shell:` and a user name of the machine.
    pub name: String,
    /// The request, for the logs.
    pub request_id: String,
}

/// An action of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Makes a worker take no more work.
    Drain(String),
    /// Makes a worker take work again.
    Wake(String),
    /// Pauses publishing.
    Pause(PauseTarget),
    /// Resumes publishing.
    Resume(PauseTarget),
    /// Sends failed posts again, now.
    Retry {
        /// The posts.
        posts: Vec<PostId>,
        /// The posts among them that may be public already and are sent nevertheless.
        risky: BTreeSet<PostId>,
    },
    /// Delivers the failed events of a webhook again, and enables it if failures had disabled it.
    Replay(WebhookId),
    /// Sets the status of a feedback message, and whether it is on the public board.
    Moderate(Moderation),
}

impl Action {
    /// Returns its name in addresses, commands and the audit log.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match self {
            Self::Drain(_) => "drain",
            Self::Wake(_) => "wake",
            Self::Pause(_) => "pause",
            Self::Resume(_) => "resume",
            Self::Retry { .. } => "retry",
            Self::Replay(_) => "replay",
            Self::Moderate(_) => "moderate",
        }
    }

    /// Returns its target, as commands write it.
    #[must_use]
    pub fn target(&self) -> String {
        match self {
            Self::Drain(name) | Self::Wake(name) => name.clone(),
            Self::Pause(target) | Self::Resume(target) => target.to_string(),
            Self::Retry { posts, .. } if posts.len() == 1 => format!("post:{}", posts[0]),
            Self::Retry { posts, .. } => format!("{} posts", posts.len()),
            Self::Replay(id) => format!("webhook:{id}"),
            Self::Moderate(one) => format!("feedback:{}", one.id),
        }
    }
}

/// An action with its reason. The same order is carried out once, however often it is sent.
#[derive(Debug, Clone)]
pub struct Order {
    /// Its id, created with the form that asks for the reason.
    pub id: Uuid,
    /// The action.
    pub action: Action,
    /// The reason that was given.
    pub reason: String,
}

/// The result of an order.
#[derive(Debug, Clone, Serialize)]
pub struct ActionResult {
    /// The outcome as a sentence.
    pub outcome: String,
    /// True if it had been carried out before, and nothing was done now.
    pub repeated: bool,
    /// The affected rows.
    pub details: Value,
}

/// The preview of an action.
#[derive(Debug, Clone, Serialize)]
pub struct Preview {
    /// The question to confirm.
    pub question: String,
    /// The consequences, as sentences.
    pub consequences: Vec<String>,
    /// The affected rows, if there are several.
    pub rows: Vec<PreviewRow>,
}

/// A row that an action would touch.
#[derive(Debug, Clone, Serialize)]
pub struct PreviewRow {
    /// The post.
    pub id: PostId,
    /// A description of the row.
    pub what: String,
    /// The reason why it failed.
    pub error: String,
    /// True if it may be public already: then it is left out unless it is chosen explicitly.
    pub risky: bool,
    /// The step that is needed first, if it failed for a reason that a retry does not fix.
    pub warning: Option<String>,
    /// The reason why it would be left out, if it would be.
    pub left_out: Option<String>,
}

/// Returns the preview of an action.
///
/// # Errors
/// The action names something that does not exist.
pub async fn preview(cx: &Domain, action: &Action) -> Result<Preview> {
    let one = |question: String, consequence: &str| Preview {
        question,
        consequences: vec![consequence.to_owned()],
        rows: Vec::new(),
    };
    Ok(match action {
        Action::Drain(name) => fleet::preview_drain(cx, name).await?,
        Action::Wake(name) => {
            fleet::find(cx, name).await?;
            one(format!("Let the worker {name} take work again?"), "It claims due work at once.")
        }
        Action::Pause(target) => {
            pauses::check(&cx.db.read, *target).await?;
            let is_paused =
                pauses::list(cx).await?.iter().any(|one| one.target == target.to_string());
            if is_paused {
                return Ok(one(
                    format!("Pause {}?", target.name()),
                    "It is paused already; nothing would change.",
                ));
            }
            one(
                format!("Pause {}?", target.name()),
                "Nothing of it is claimed from now on; calls that are under way end as they end. Posts that become due \
                 wait, and after the pause go out at once, or fail as missed when their time is too long past.",
            )
        }
        Action::Resume(target) => one(
            format!("Resume {}?", target.name()),
            "Posts that waited are published at once, except posts whose time is too long past: those fail as missed.",
        ),
        Action::Retry { posts, .. } => retry::preview(cx, posts).await?,
        Action::Replay(id) => failing_webhooks::preview(cx, *id).await?,
        Action::Moderate(one) => board::preview(cx, one).await?,
    })
}

/// Carries out an order, and writes its entry of the audit log in the same transaction.
///
/// # Errors
/// No reason was given, or the target does not exist; nothing is changed then.
pub async fn perform(cx: &Domain, actor: &Actor, order: Order) -> Result<ActionResult> {
    let order = Order { reason: order.reason.trim().to_owned(), ..order };
    check_reason(&order.reason)?;
    let mut tx = Tx::begin(cx).await?;
    if !audit::begin(&tx, actor, &order).await? {
        drop(tx);
        return repeated(cx, &order).await;
    }
    let (outcome, details) = carry_out(cx, &mut tx, actor, &order).await?;
    audit::end(&tx, &order, &outcome, &details).await?;
    tx.commit().await?;
    tracing::info!(
        operator = actor.name,
        action = order.action.verb(),
        target = order.action.target(),
        request.id = actor.request_id,
        "an operator acted"
    );
    Ok(ActionResult { outcome, repeated: false, details })
}

/// Returns the result of an order that was already carried out. A different order with the same id is refused.
async fn repeated(cx: &Domain, order: &Order) -> Result<ActionResult> {
    let before = audit::find_by_order(cx, order.id).await?;
    let is_same = |entry: &audit::AuditEntry| {
        entry.action == order.action.verb() && entry.target == order.action.target()
    };
    match before.filter(is_same) {
        Some(entry) => {
            Ok(ActionResult { outcome: entry.outcome, repeated: true, details: Value::Null })
        }
        None => {
            let message = "This form was already used for another action; nothing was done.";
            let remedy = "Reload the page and choose again.";
            Err(Error::field(Code::InvalidTransition, "order", message, remedy))
        }
    }
}

async fn carry_out(
    cx: &Domain,
    tx: &mut Tx,
    actor: &Actor,
    order: &Order,
) -> Result<(String, Value)> {
    let said = match &order.action {
        Action::Drain(name) => fleet::set_drained(tx, name, true).await?,
        Action::Wake(name) => fleet::set_drained(tx, name, false).await?,
        Action::Pause(target) => pauses::pause(tx, actor, *target, &order.reason).await?,
        Action::Resume(target) => pauses::resume(tx, *target).await?,
        Action::Retry { posts, risky } => return retry::retry(cx, tx, actor, posts, risky).await,
        Action::Replay(id) => return failing_webhooks::replay(tx, *id).await,
        Action::Moderate(one) => board::carry_out(tx, one).await?,
    };
    Ok((said, json!({})))
}

fn check_reason(reason: &str) -> Result<()> {
    if reason.is_empty() {
        let message = "A reason is needed.";
        let remedy = "Give a short reason; it is written to the audit log.";
        return Err(Error::field(Code::FieldRequired, "reason", message, remedy));
    }
    let wrong = |message: String, remedy: &str| {
        Err(Error::field(Code::InvalidField, "reason", message, remedy))
    };
    if reason.contains('\0') {
        return wrong("The reason contains a NUL character.".to_owned(), "Remove it.");
    }
    match reason.chars().count() {
        ..=LONGEST_REASON => Ok(()),
        length => wrong(
            format!("The reason has {length} characters; it may have {LONGEST_REASON}."),
            "Shorten it.",
        ),
    }
}
