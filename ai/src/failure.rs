//! Failures of providers. They contain neither a prompt nor a provider's message about one.

mod table;

use std::time::Duration;

use fanfare_outbound::{Error, Reply};
use serde_json::Value;

pub(crate) use table::Interface;
use table::{ROWS, Sign};

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The provider refuses the content.
    Refused,
    /// The provider refuses the operator's key, plan, quota or project.
    Denied,
    /// The provider is busy; retry later.
    Busy {
        /// The time to wait, if it was given.
        after: Option<Duration>,
    },
    /// The provider cannot have received the request.
    NotSent,
    /// The reply was lost; the provider may have acted on the request.
    Lost,
    /// The model does not exist any more.
    Retired,
    /// The provider does not take the request, for no reason that we know.
    Rejected,
    /// The reply cannot be read.
    BadAnswer,
    /// The provider failed.
    Failed,
}

/// Who is to blame for a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blame {
    /// The content.
    Content,
    /// The operator: a key, a plan, a quota or a project.
    Operator,
    /// The operator, who names a model that is gone.
    Retired,
    /// Nobody: the provider is busy.
    Nobody,
}

/// A failed call.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{sentence}")]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// The HTTP status, if there was a reply.
    pub status: Option<u16>,
    sentence: String,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, sentence: impl Into<String>) -> Self {
        Self { kind, status: None, sentence: sentence.into() }
    }

    pub(crate) fn bad_answer() -> Self {
        Self::new(FailureKind::BadAnswer, "The provider's answer cannot be read.")
    }

    pub(crate) fn refused() -> Self {
        Self::new(FailureKind::Refused, "The provider refuses the content.")
    }

    /// Returns the failure of an unsuccessful reply.
    pub(crate) fn of_reply(interface: Interface, reply: &Reply) -> Self {
        let body: Value = reply.json().unwrap_or_default();
        Self::of_answer(interface, (reply.status, &body), reply.retry_after())
    }

    /// Returns the failure of an unsuccessful answer.
    pub(crate) fn of_answer(
        interface: Interface,
        (status, body): (u16, &Value),
        after: Option<Duration>,
    ) -> Self {
        let kind = match blame(interface, status, body) {
            Some(Blame::Content) => FailureKind::Refused,
            Some(Blame::Operator) => FailureKind::Denied,
            Some(Blame::Retired) => FailureKind::Retired,
            Some(Blame::Nobody) => FailureKind::Busy { after },
            None if (300..500).contains(&status) && status != 408 => FailureKind::Rejected,
            None => FailureKind::Failed,
        };
        let sentence = format!("The provider answers with status {status}.");
        Self { kind, status: Some(status), sentence }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let kind = if error.maybe_sent() { FailureKind::Lost } else { FailureKind::NotSent };
        // The message names the host at most.
        Self::new(kind, error.to_string())
    }
}

/// Returns who is to blame for an answer; `None` if the table does not say.
pub(crate) fn blame(interface: Interface, status: u16, body: &Value) -> Option<Blame> {
    // Google's endpoint for OpenAI's clients answers with a list of one error.
    let body = body.get(0).unwrap_or(body);
    let row = ROWS.iter().find(|(interfaces, statuses, sign, _)| {
        interfaces.contains(&interface) && statuses.contains(&status) && has(body, *sign)
    });
    row.map(|(.., blame)| *blame)
}

fn has(body: &Value, sign: Sign) -> bool {
    let at = |place| body.pointer(place).unwrap_or(&Value::Null);
    match sign {
        Sign::Any => true,
        Sign::Code(known) => codes(body).iter().any(|code| known.contains(code)),
        Sign::Value(place, known) => {
            let found = at(place);
            let text = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
            known.contains(&text.as_str())
        }
        Sign::Filled(place) => match at(place) {
            Value::Null | Value::Bool(false) => false,
            Value::String(text) => !text.is_empty(),
            Value::Number(number) => number.as_f64() != Some(0.0),
            Value::Array(items) => !items.is_empty(),
            Value::Object(_) | Value::Bool(true) => true,
        },
        Sign::Words(words) => {
            let said = [at("/error/message"), at("/error"), at("/message")];
            said.iter().any(|it| it.as_str().is_some_and(|it| it.to_lowercase().contains(words)))
        }
    }
}

/// Returns the codes of an answer, wherever vendors have them.
fn codes(body: &Value) -> Vec<&str> {
    const PLACES: [&str; 5] =
        ["/error/code", "/error/type", "/error/status", "/error/innererror/code", "/code"];
    let details = body["error"]["details"].as_array().into_iter().flatten();
    let reasons = details.map(|detail| &detail["reason"]);
    let codes = PLACES.iter().filter_map(|place| body.pointer(place));
    codes.chain(reasons).filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        Interface::{Chat, Google, Interactions, Tokens, Vertex, Xai},
        *,
    };

    fn kind(interface: Interface, status: u16, body: &Value) -> FailureKind {
        Failure::of_answer(interface, (status, body), None).kind
    }

    /// What each vendor says, in its own form, and whose fault it is.
    fn answers() -> Vec<(Interface, u16, Value, FailureKind)> {
        use FailureKind::{Denied, Refused, Rejected, Retired};
        let busy = FailureKind::Busy { after: None };
        let openai = |code: &str, message: &str| json!({"error": {"code": code, "message": message, "type": "invalid_request_error"}});
        let quota = |code: &str| json!({"error": {"code": code, "message": "You exceeded your current quota.", "type": "insufficient_quota"}});
        let google = |status: &str, message: &str| json!({"error": {"code": 400, "status": status, "message": message}});
        let interactions = |code: &str| json!({"error": {"code": code, "message": "No."}});
        let xai = |code: &str, message: &str| json!({"code": code, "error": message});
        let router = |metadata: Value| json!({"error": {"code": 403, "message": "Flagged", "metadata": metadata}});
        let denied = "The caller does not have permission to execute the specified operation";
        let check = "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO";
        let barred = "Your API key is blocked for a violation of our safety policy.";
        let azure = json!({"error": {"code": "content_filter", "status": 400,
            "innererror": {"code": "ResponsibleAIPolicyViolation"}}});
        let no_key = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid.",
            "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]}});
        vec![
            (Chat, 400, openai("content_policy_violation", "Your request was rejected."), Refused),
            (Chat, 403, openai("moderation_blocked", "No."), Refused),
            (Chat, 400, azure, Refused),
            (Chat, 400, openai("invalid_prompt", "No."), Refused),
            (
                Chat,
                400,
                openai("invalid_value", "size breaks a policy of the safety model"),
                Rejected,
            ),
            (Chat, 400, openai("context_length_exceeded", "Too long."), Rejected),
            (Chat, 401, openai("invalid_api_key", "safety policy"), Denied),
            (Chat, 402, json!({"error": {"code": 402, "message": "Insufficient credits"}}), Denied),
            (Chat, 403, router(json!({"flagged_input": "a", "reasons": ["violence"]})), Refused),
            (Chat, 403, router(json!({"limit_source": "openrouter_key_limit"})), Denied),
            (Chat, 429, quota("insufficient_quota"), Denied),
            (Chat, 429, quota("project_spend_limit_exceeded"), Denied),
            (Chat, 429, openai("rate_limit_exceeded", "Slow down."), busy),
            (
                Chat,
                400,
                json!({"error": {"message": "Content Exists Risk", "code": "invalid_request_error"}}),
                Refused,
            ),
            (Chat, 404, openai("model_not_found", "No such model."), Retired),
            (Chat, 404, xai("model_unavailable", "gone"), Retired),
            (Chat, 404, openai("not_found", "Nothing here."), Rejected),
            (Chat, 403, xai(denied, check), Refused),
            (Chat, 400, json!([google("FAILED_PRECONDITION", "Enable billing.")]), Denied),
            (Chat, 529, json!({"error": {"type": "overloaded_error"}}), busy),
            (Xai, 403, xai(denied, check), Refused),
            (Xai, 403, xai(denied, barred), Denied),
            (Xai, 403, xai(denied, "Your team broke the usage guidelines and is barred."), Denied),
            (
                Xai,
                400,
                xai("Client specified an invalid argument", "Rejected by content moderation."),
                Refused,
            ),
            (
                Xai,
                400,
                xai("Client specified an invalid argument", "duration must be 1 to 15"),
                Rejected,
            ),
            (Google, 400, google("INVALID_ARGUMENT", "safetySettings: unknown category"), Rejected),
            (
                Google,
                400,
                google("FAILED_PRECONDITION", "User location is not supported by policy."),
                Denied,
            ),
            (Google, 400, no_key, Denied),
            (
                Google,
                403,
                google("PERMISSION_DENIED", "The project is suspended for a policy violation."),
                Denied,
            ),
            (Google, 429, google("RESOURCE_EXHAUSTED", "Slow down."), busy),
            (Google, 503, google("UNAVAILABLE", "The model is overloaded."), busy),
            (Interactions, 400, interactions("content_blocked"), Refused),
            (Interactions, 400, interactions("image_safety"), Refused),
            (Interactions, 400, interactions("invalid_request"), Rejected),
            (Interactions, 403, interactions("permission_denied"), Denied),
            (Interactions, 404, interactions("model_not_found"), Retired),
            (Interactions, 404, google("NOT_FOUND", "veo-3.1 is no longer available."), Retired),
            (Interactions, 429, interactions("rate_limit_exceeded"), busy),
            (Interactions, 429, interactions("quota_exceeded"), Denied),
            (
                Vertex,
                400,
                google(
                    "INVALID_ARGUMENT",
                    "The input image violates Vertex AI's usage guidelines. Support codes: 15236754",
                ),
                Refused,
            ),
            (
                Vertex,
                400,
                google(
                    "INVALID_ARGUMENT",
                    "This prompt violates Google's Responsible AI practices.",
                ),
                Refused,
            ),
            (
                Vertex,
                400,
                google("INVALID_ARGUMENT", "personGeneration is against the policy."),
                Rejected,
            ),
            (Vertex, 403, google("PERMISSION_DENIED", "Usage guidelines."), Denied),
            (Tokens, 400, json!({"error": "invalid_grant"}), Denied),
            (Tokens, 403, json!({}), Denied),
        ]
    }

    #[test]
    fn each_vendor_is_read_in_its_own_words() {
        for (interface, status, body, wanted) in answers() {
            assert_eq!(kind(interface, status, &body), wanted, "{interface:?} {status} {body}");
        }
    }

    #[test]
    fn a_provider_that_fails_says_nothing_about_the_content_or_the_operator() {
        let judged = |kind| matches!(kind, FailureKind::Failed | FailureKind::Busy { .. });
        for (interface, _, body, _) in answers() {
            for status in [500, 502, 503, 504, 529] {
                let found = kind(interface, status, &body);
                assert!(judged(found), "{interface:?} {status} {body}: {found:?}");
            }
        }
        assert!(
            ROWS.iter()
                .flat_map(|row| row.1)
                .all(|status| *status < 500 || [503, 529].contains(status))
        );
    }

    #[test]
    fn words_count_only_where_no_key_can_be_meant() {
        // A barred key breaks a policy, too.
        for (interfaces, statuses, sign, blame) in ROWS {
            let Sign::Words(words) = sign else { continue };
            assert_eq!(*words, words.to_lowercase());
            let is_about_xai =
                interfaces.contains(&Xai) && words.contains("content") || words.contains("check");
            let is_sure = !statuses.contains(&403) || is_about_xai;
            assert!(is_sure && !statuses.contains(&401), "{words} {blame:?}");
        }
    }

    #[test]
    fn a_success_that_holds_a_refusal_is_one() {
        for (interface, body, wanted) in [
            (Chat, json!({"choices": [{"message": {"refusal": "No."}}]}), Some(Blame::Content)),
            (Chat, json!({"choices": [{"message": {"refusal": "", "content": "{}"}}]}), None),
            (Chat, json!({"choices": [{"finish_reason": "content_filter"}]}), Some(Blame::Content)),
            (Google, json!({"promptFeedback": {"blockReason": "OTHER"}}), Some(Blame::Content)),
            (
                Google,
                json!({"candidates": [{"finishReason": "IMAGE_PROHIBITED_CONTENT"}]}),
                Some(Blame::Content),
            ),
            (Google, json!({"candidates": [{"finishReason": "STOP"}]}), None),
            (Google, json!({"candidates": [{"finishReason": "MAX_TOKENS"}]}), None),
            (
                Xai,
                json!({"status": "done", "video": {"respect_moderation": false}}),
                Some(Blame::Content),
            ),
            (Xai, json!({"status": "done", "video": {"respect_moderation": true}}), None),
            (
                Interactions,
                json!({"status": "failed", "error": {"code": "safety"}}),
                Some(Blame::Content),
            ),
            (Interactions, json!({"status": "failed", "error": {"code": "api_error"}}), None),
            (Interactions, json!({"status": "budget_exceeded"}), Some(Blame::Operator)),
            (Vertex, json!({"response": {"raiMediaFilteredCount": 1}}), Some(Blame::Content)),
            (Vertex, json!({"response": {"raiMediaFilteredCount": 0}}), None),
        ] {
            assert_eq!(blame(interface, 200, &body), wanted, "{interface:?} {body}");
        }
    }
}
