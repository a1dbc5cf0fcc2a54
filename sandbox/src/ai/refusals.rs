//! Refusals in each vendor's form: the status and the code stand in the prompt, as `[[answer 429 insufficient_quota]]` or
//! `[[answer 403 - Failed check: SAFETY_CHECK_TYPE_BIO]]`; `[[end 13 Internal]]` is how a video ends.

use serde_json::{Value, json};

use super::Vendor;
use crate::reply::Reply;

/// The status or code, the code beside it, and the message of a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub status: u16,
    pub code: Option<String>,
    pub message: String,
}

impl Refusal {
    /// Reads a directive's words: a status, a code or `-`, and the message.
    pub fn read(words: &str) -> Option<Self> {
        let mut words = words.splitn(3, ' ');
        let status = words.next()?.parse().ok()?;
        let code = words.next().filter(|code| *code != "-").map(str::to_owned);
        let message = words.next().unwrap_or("It is refused.").to_owned();
        Some(Self { status, code, message })
    }

    /// Reads how a video ends: a code, and the message.
    pub fn read_end(words: &str) -> Option<Self> {
        let (code, message) = words.split_once(' ').unwrap_or((words, "It ended."));
        let status = code.parse().unwrap_or_default();
        (!code.is_empty()).then(|| Self {
            status,
            code: Some(code.to_owned()),
            message: message.to_owned(),
        })
    }

    /// Returns the vendor's answer.
    pub fn reply(&self, vendor: Vendor, path: &[&str]) -> Reply {
        let reply = Reply::json(self.status, &self.body(vendor, path));
        if self.status == 429 { reply.with("retry-after", 7) } else { reply }
    }

    fn body(&self, vendor: Vendor, path: &[&str]) -> Value {
        let (code, message) = (&self.code, &self.message);
        match vendor {
            Vendor::Text => {
                let kind = match code.as_deref() {
                    Some("insufficient_quota" | "project_spend_limit_exceeded") => {
                        "insufficient_quota"
                    }
                    _ => "invalid_request_error",
                };
                json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
            }
            Vendor::Xai => {
                let usual =
                    "The caller does not have permission to execute the specified operation";
                json!({"code": code.as_deref().unwrap_or(usual), "error": message})
            }
            Vendor::Google if path.contains(&"interactions") => {
                json!({"error": {"code": code, "message": message}})
            }
            Vendor::Google | Vendor::Vertex => self.google(),
        }
    }

    /// Returns an error of Google's (`google.rpc.Status`): a code in capitals that is no status is the reason of a detail.
    fn google(&self) -> Value {
        let usual = match self.status {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            500.. => "INTERNAL",
            _ => "INVALID_ARGUMENT",
        };
        let (status, reason) = match self.code.as_deref() {
            Some("FAILED_PRECONDITION") => ("FAILED_PRECONDITION", None),
            reason => (usual, reason),
        };
        let detail = |reason| json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"});
        let details: Vec<Value> = reason.map(detail).into_iter().collect();
        json!({"error": {"code": self.status, "status": status, "message": self.message, "details": details}})
    }
}
