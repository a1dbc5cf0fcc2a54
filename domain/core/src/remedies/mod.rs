//! Remedies that a program can carry out: fixes of the request's body, and calls to make after an error.

mod next_steps;
mod patch;
mod rights;

use std::{borrow::Cow, collections::HashSet};

use fanfare_entities::{AccountId, PostId, PostSetId, account};
use fanfare_platforms::{self as platforms, Fix, NextAction, Violation, Violations};
use serde_json::{Value, json};

use crate::error::{Code, Error};

pub use next_steps::{
    NextStep, OPERATIONS, Operation, WHILE_WAITING, after_post_failure, fixes, next_steps,
    reconnect, show_post,
};
pub use rights::Rights;

/// The known facts about a request that failed.
#[derive(Debug, Clone, Default)]
pub struct RequestContext {
    /// Origin under which the service is reached.
    pub base_url: String,
    /// The account that it is about.
    pub account: Option<AccountRef>,
    /// The post that it is about.
    pub post: Option<PostId>,
    /// The post set that it is about.
    pub post_set: Option<PostSetId>,
    /// The request itself, for a retry: operation, method and path.
    pub request: Option<(&'static str, &'static str, String)>,
    /// The body, as it was sent.
    pub body: Option<Value>,
    /// The JSON pointer of `body` in the request's body: empty, or that of an item of a batch.
    pub body_pointer: String,
    /// The rights of the caller; `None` if there is no caller, as in an event.
    pub rights: Option<Rights>,
}

impl RequestContext {
    /// Returns true if a call of the operation is not known to be refused.
    fn allows(&self, operation: &Operation) -> bool {
        self.rights.as_ref().is_none_or(|rights| rights.allow(operation))
    }
}

/// The account that a failed request names.
#[derive(Debug, Clone)]
pub struct AccountRef {
    /// Its id.
    pub id: AccountId,
    /// Its platform.
    pub platform: String,
    /// True if it is on a simulated network.
    pub sandbox: bool,
}

impl From<&account::Model> for AccountRef {
    fn from(row: &account::Model) -> Self {
        Self { id: row.id, platform: row.platform.clone(), sandbox: row.sandbox }
    }
}

/// Adds remedies to an error: the fixes that apply to the body, and the next calls.
#[must_use]
pub fn add_remedies(error: Error, situation: &RequestContext) -> Error {
    if error.has_remedies() {
        return error;
    }
    let code = error.code();
    let leaves_some = error.details().valid_targets.is_some_and(|valid| valid > 0);
    let situation = &*about_similar(&error, situation);
    error.with_remedies(|violations| {
        keep_applicable_fixes(violations, situation);
        if violations.is_empty() {
            return next_calls(code, None, situation);
        }
        // Each call is listed once, at the first violation that it helps with.
        let mut named = HashSet::new();
        for violation in violations.iter_mut() {
            let Some(code) = Code::named(violation.code) else { continue };
            let mut calls = match std::mem::take(&mut violation.next) {
                known if known.is_empty() => next_calls(code, Some(violation), situation),
                known => known,
            };
            calls.retain(|call| {
                named.insert((call.path.clone(), call.body.clone().map(|body| body.to_string())))
            });
            violation.next = calls;
        }
        match code {
            Code::TargetsRefused if !leaves_some => Vec::new(),
            Code::TargetsRefused => next_calls(code, None, situation),
            _ => Vec::new(),
        }
    })
}

/// Returns the situation with the newest similar post as the one that it is about, if the error names similar posts.
fn about_similar<'a>(error: &Error, situation: &'a RequestContext) -> Cow<'a, RequestContext> {
    match &error.details().similar {
        None => Cow::Borrowed(situation),
        Some(similar) => {
            let post = similar.first().map(|newest| newest.post_id);
            Cow::Owned(RequestContext { post, ..situation.clone() })
        }
    }
}

/// Keeps the fixes that can be applied, in their order, to the body that was sent.
fn keep_applicable_fixes(violations: &mut Violations, situation: &RequestContext) {
    let mut body = situation.body.clone();
    for violation in violations.iter_mut().filter(|one| !one.fix.is_empty()) {
        let fixes = std::mem::take(&mut violation.fix);
        let Some(before) = &body else { continue };
        let fixes = patch::with_parents(before, fixes);
        if let Some(after) = patch::apply(before, &fixes) {
            body = Some(after);
            violation.fix =
                fixes.into_iter().map(|fix| with_prefix(fix, &situation.body_pointer)).collect();
        }
    }
}

fn with_prefix(fix: Fix, place: &str) -> Fix {
    let at = |path: String| format!("{place}{path}");
    match fix {
        Fix::Add { path, value } => Fix::Add { path: at(path), value },
        Fix::Move { from, path } => Fix::Move { from: at(from), path: at(path) },
        Fix::Remove { path } => Fix::Remove { path: at(path) },
        Fix::Replace { path, value } => Fix::Replace { path: at(path), value },
    }
}

/// Returns the calls to make after an error with this code.
#[must_use]
pub fn next_calls(
    code: Code,
    violation: Option<&Violation>,
    situation: &RequestContext,
) -> Vec<NextAction> {
    let choices = violation.and_then(|violation| choices(code, violation, situation));
    let calls = next_steps(code).iter().filter_map(|lead| lead.call(situation));
    choices.into_iter().chain(calls).collect()
}

/// Returns the call that lists the possible values of a setting: the boards of an account, its channels, its
/// publications.
fn choices(code: Code, violation: &Violation, situation: &RequestContext) -> Option<NextAction> {
    if !matches!(code, Code::SettingRequired | Code::SettingInvalid) {
        return None;
    }
    let account = situation.account.as_ref().filter(|_| situation.allows(&next_steps::TRIGGER))?;
    let setting = violation.field.strip_prefix("settings.")?;
    let platform = platforms::find(account.platform.parse().ok()?);
    let wanted = |tool: &&&str| {
        tool.split('.').nth(1).is_some_and(|list| list.strip_suffix('s') == Some(setting))
    };
    let tool = platform.spec().tools.iter().find(wanted)?;
    let body = json!({"tool": tool, "account_id": account.id});
    Some(next_steps::TRIGGER.next(String::new(), Some(body), "Lists what the setting can be."))
}

#[cfg(test)]
mod tests {
    use fanfare_entities::post::PostStatus;

    use super::*;
    use crate::{
        clock::Time,
        error::{
            refusal::{Likeness, RefusalDetails, SimilarPost},
            violation,
        },
    };

    fn situation(body: Value) -> RequestContext {
        RequestContext {
            base_url: "https://f.example".to_owned(),
            account: Some(AccountRef {
                id: AccountId(7),
                platform: "pinterest".to_owned(),
                sandbox: true,
            }),
            body: Some(body),
            ..RequestContext::default()
        }
    }

    #[test]
    fn fixes_that_collide_or_do_not_fit_are_left_out() {
        let misspelt = |field: &str| {
            violation(Code::UnknownField, field, "m", "r").with_fix([Fix::rename(field, "caption")])
        };
        let broken = vec![misspelt("captoin"), misspelt("capton"), misspelt("absent")];
        let error = Error::check(broken).unwrap_err();
        assert!(error.reason().validation_errors.iter().all(|one| one.fix.is_empty()));
        let error = add_remedies(error, &situation(json!({"captoin": "a", "capton": "b"})));
        let fixes: Vec<_> =
            error.reason().validation_errors.iter().map(|one| one.fix.len()).collect();
        assert_eq!(fixes, [1, 0, 0]);
    }

    #[test]
    fn a_missing_board_leads_to_the_boards() {
        let missing = violation(Code::SettingRequired, "settings.board", "m", "r");
        let error = add_remedies(Error::violation(missing), &situation(json!({})));
        let next = json!(error.violations()[0].next);
        assert_eq!(next[0]["operation"], "trigger_platform_helper");
        assert_eq!(next[0]["body"], json!({"tool": "pinterest.boards", "account_id": 7}));
        assert_eq!(next[1]["path"], "/api/v1/accounts/7/schema");
    }

    #[test]
    fn a_refused_duplicate_leads_to_the_other_post_and_to_the_same_call_with_a_word_more() {
        let newest = SimilarPost {
            post_id: PostId(5),
            kind: Likeness::Near,
            scheduled_at: Time(0),
            status: PostStatus::Draft,
        };
        let situation = RequestContext {
            post: Some(PostId(9)),
            request: Some(("update_post", "PATCH", "/api/v1/posts/9".to_owned())),
            ..situation(json!({"caption": "a", "duplicates": "refuse"}))
        };
        let refused = |similar| {
            let details = RefusalDetails { similar: Some(similar), ..RefusalDetails::default() };
            let error = Error::new(Code::DuplicateContent, "m").with_details(details);
            json!(add_remedies(error, &situation).reason().next)
        };
        let next = refused(vec![newest]);
        assert_eq!(next[0]["path"], "/api/v1/posts/5");
        assert_eq!(next[1]["path"], "/api/v1/posts/9");
        assert_eq!(next[1]["body"], json!({"caption": "a", "duplicates": "warn"}));
        let next = refused(Vec::new());
        assert_eq!(next[0]["operation"], "update_post", "there is no other post to show");
    }

    #[test]
    fn a_risk_is_taken_by_the_same_call_with_a_word_more() {
        let request = ("retry_post", "POST", "/api/v1/posts/9/retry".to_owned());
        let situation = RequestContext {
            post: Some(PostId(9)),
            request: Some(request),
            ..situation(json!({"acknowledge_duplicate_risk": false}))
        };
        let error = add_remedies(Error::new(Code::DuplicateRisk, "m"), &situation);
        let next = json!(error.reason().next);
        assert_eq!(next[0]["operation"], "list_attempts");
        assert_eq!(next[1]["path"], "/api/v1/posts/9/retry");
        assert_eq!(next[1]["body"], json!({"acknowledge_duplicate_risk": true}));
    }
}
