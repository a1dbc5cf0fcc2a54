//! The entries of the audit log for `fanfare admin`: every command has one, look-ups of people included.

use clap::ValueEnum as _;
use fanfare_ops::ops::audit::ShellAct;
use serde_json::{Value, json};

use super::{Command, MemberCommand, PasswordCommand, RoleName, TierName};

/// Returns the entry of a command; `None` for operators' log-ins and deletions, which write their own.
pub(super) fn entry(command: &Command) -> Option<ShellAct> {
    let act = |action, target: String, details: Value| Some(ShellAct { action, target, details });
    let person = |email: &str| format!("person:{}", email.trim().to_lowercase());
    match command {
        Command::Create { .. }
        | Command::Workspace { command: Some(_), .. }
        | Command::Password {
            command: Some(PasswordCommand::Reset { operator: true, .. }), ..
        } => None,
        Command::Password { command: Some(PasswordCommand::Reset { email, .. }), .. } => {
            act("password", person(email), json!({"made": true}))
        }
        Command::Password { email, .. } => {
            act("password", person(email.as_deref().unwrap_or_default()), json!({}))
        }
        Command::User { email, create } => {
            act(if *create { "user" } else { "look_up" }, person(email), json!({}))
        }
        Command::Workspace { name, owner, command: None } => {
            act("workspace", person(owner.as_deref().unwrap_or_default()), json!({"name": name}))
        }
        Command::Member { command: Some(MemberCommand::Remove { workspace, email }), .. } => act(
            "member_removed",
            format!("workspace:{workspace}"),
            json!({"person": person(email)}),
        ),
        Command::Member { workspace, email, role, .. } => act(
            "member",
            format!("workspace:{}", workspace.unwrap_or_default()),
            json!({"person": person(email.as_deref().unwrap_or_default()), "role": role.map(role_name)}),
        ),
        Command::Brand { workspace, name, profile } => act(
            "brand",
            format!("workspace:{workspace}"),
            json!({"name": name, "profile": profile.is_some()}),
        ),
        Command::Lock { workspace, email, brand } => act(
            "lock",
            format!("workspace:{workspace}"),
            json!({"person": person(email), "brand": brand}),
        ),
        Command::Unlock { address_or_workspace, email: Some(email), brand } => act(
            "unlock",
            format!("workspace:{address_or_workspace}"),
            json!({"person": person(email), "brand": brand}),
        ),
        Command::Unlock { address_or_workspace, .. } => {
            act("unlock", person(address_or_workspace), json!({}))
        }
        Command::Hold { until, all, without_asking } => {
            let until = until.map(|until| humantime::format_rfc3339_millis(until).to_string());
            act(
                "hold",
                "posts".to_owned(),
                json!({"until": until, "all": all, "asks": !without_asking}),
            )
        }
        Command::Rewrap => act("rewrap", "secrets".to_owned(), json!({})),
        Command::Subscription { email, tier, addon } => {
            act("subscription", person(email), json!({"tier": tier_name(*tier), "addon": addon}))
        }
        Command::Plan { workspace, tier, addon } => act(
            "plan",
            format!("workspace:{workspace}"),
            json!({"tier": tier_name(*tier), "addon": addon}),
        ),
    }
}

fn role_name(role: RoleName) -> String {
    role.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn tier_name(tier: TierName) -> String {
    tier.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
