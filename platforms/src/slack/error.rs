//! Slack's errors: `{"ok": false, "error"}` with 200, and 429 with `Retry-After`.

use fanfare_outbound::Reply;
use serde_json::Value;

use crate::{Error, ErrorKind, Session, response};

/// Converts a response that is not ok.
pub fn error_of_response(session: &Session, reply: &Reply, answer: &Value) -> Error {
    let code = session.secrets.redact(answer["error"].as_str().unwrap_or_default());
    let details = answer.pointer("/response_metadata/messages/0").and_then(Value::as_str);
    let details = details.map(|text| session.secrets.redact(text));
    classify(reply, &code).with_reply(reply.status, Some(code.as_str()), details.as_deref())
}

/// Converts a response without Slack's own error.
pub fn error_of_reply(session: &Session, reply: &Reply) -> Error {
    let body: Value = reply.json().unwrap_or_default();
    match body["error"].as_str() {
        Some(_) if reply.status < 500 && reply.status != 429 => {
            error_of_response(session, reply, &body)
        }
        _ => response::error_by_status("Slack", reply, "").with_reply(reply.status, None, None),
    }
}

fn classify(reply: &Reply, code: &str) -> Error {
    match code {
        "token_expired" => {
            Error::new(ErrorKind::TokenExpired, "The Slack access token has expired.")
        }
        "invalid_auth"
        | "token_revoked"
        | "account_inactive"
        | "not_authed"
        | "user_removed_from_team" => {
            Error::reconnect("Slack no longer accepts the account's access.")
                .with_remedy("Install the app in the workspace again by connecting the account.")
        }
        "missing_scope" | "no_permission" => {
            Error::reconnect("The app lacks a permission in the workspace.")
                .with_remedy("Connect the account again and grant all permissions.")
        }
        "channel_not_found" => Error::rejected("Slack does not find the channel.")
            .with_remedy("Invite the app to the channel, or connect another channel."),
        "is_archived" => Error::rejected("The channel is archived.")
            .with_remedy("Restore the channel, or connect another one."),
        "not_in_channel" => Error::rejected("The app is not a member of the channel.")
            .with_remedy("Invite the app to the channel with /invite, then retry the post."),
        "restricted_action" | "restricted_action_read_only_channel" | "ekm_access_denied" => {
            Error::rejected("The workspace does not let the app post in this channel.")
                .with_remedy("Ask an administrator of the workspace to allow it.")
        }
        "ratelimited" | "rate_limited" | "message_limit_exceeded" => {
            Error::new(ErrorKind::RateLimited, "Slack asks to wait.")
                .with_retry_after(reply.retry_after())
        }
        "internal_error"
        | "fatal_error"
        | "service_unavailable"
        | "request_timeout"
        | "team_added_to_org"
        | "external_channel_migrating" => {
            Error::new(ErrorKind::Server, "Slack has a problem of its own.")
        }
        _ => message_error(code),
    }
}

/// Returns the error for a refusal of one message; account and channel are fine.
fn message_error(code: &str) -> Error {
    match code {
        "msg_too_long" | "msg_blocks_too_long" => {
            Error::rejected("The message is too long for Slack.")
                .with_remedy("Shorten the caption or the blocks.")
        }
        "no_text" => Error::rejected("Slack takes no message without text, blocks or files."),
        "invalid_blocks" | "invalid_blocks_format" => {
            Error::rejected("Slack does not take the blocks.")
                .with_remedy("Try them in Slack's Block Kit Builder, then correct settings.blocks.")
        }
        "thread_not_found" | "message_not_found" | "cannot_reply_to_message" => {
            Error::rejected("Slack does not find the message to answer.")
                .with_remedy("Correct settings.thread_ts.")
        }
        "file_not_found"
        | "file_upload_size_restricted"
        | "file_uploads_disabled"
        | "file_type_restricted"
        | "storage_limit_reached" => Error::media_rejected(
            "The workspace does not take a file of the post.",
        )
        .with_remedy("Check the size and type of the files, and the workspace's rules for them."),
        _ => {
            let error = Error::rejected(format!("Slack refuses the message: {code}."));
            if names_its_cause(code) { error } else { error.left_open() }
        }
    }
}

/// Returns true for the errors about the arguments, the channel or rules of the workspace, which are checked before a
/// message is made (<https://docs.slack.dev/reference/methods/chat.postMessage>,
/// <https://docs.slack.dev/reference/methods/files.completeUploadExternal>).
fn names_its_cause(code: &str) -> bool {
    const STARTS: [&str; 8] = [
        "invalid_",
        "missing_",
        "restricted_action_",
        "slack_connect_",
        "metadata_",
        "too_many_",
        "as_user_",
        "team_access_",
    ];
    const NAMES: [&str; 23] = [
        "access_denied",
        "accesslimited",
        "attachment_payload_limit_exceeded",
        "blocked_file_type",
        "channel_type_not_supported",
        "deprecated_endpoint",
        "duplicate_channel_not_found",
        "duplicate_message_not_found",
        "enterprise_is_restricted",
        "is_inactive",
        "malware_detected",
        "markdown_text_conflict",
        "messages_tab_disabled",
        "method_deprecated",
        "no_dual_broadcast_content_update",
        "not_allowed_token_type",
        "org_login_required",
        "posting_to_channel_denied",
        "posting_to_general_channel_denied",
        "team_not_found",
        "two_factor_setup_required",
        "unknown_method",
        "user_is_restricted",
    ];
    NAMES.contains(&code) || STARTS.iter().any(|start| code.starts_with(start))
}
