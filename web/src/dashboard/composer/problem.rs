//! What is wrong with the post in the composer, at the fields of its form.

use fanfare_core::{Code, Error, error::violation};
use fanfare_entities::{AccountId, account};

use super::{
    draft::{Draft, own_text_field},
    settings,
};
use crate::dashboard::marks::account_name;

/// A problem of the post.
pub struct Problem {
    /// The names of the accounts that have it; empty if all have.
    pub account: String,
    /// Their ids.
    pub accounts: Vec<AccountId>,
    /// The label of the field.
    pub field: String,
    /// The name of the form's field.
    pub input: String,
    /// The problem and its remedy.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

impl Problem {
    /// Returns the problems of an error that is about no account, one for each violation.
    pub fn of(error: &Error) -> Vec<Self> {
        let problem = |field: &str, message: &str, remedy: &str| Self {
            account: String::new(),
            accounts: Vec::new(),
            field: field.replace('_', " "),
            input: input(field, None),
            message: message.to_owned(),
            remedy: remedy.to_owned(),
        };
        if error.violations().is_empty() {
            let entry = error.code().entry();
            let remedy = error.details().remedy.as_deref().unwrap_or(entry.remedy);
            return vec![problem("", error.message(), remedy)];
        }
        let all = error.violations().iter();
        all.map(|one| problem(&one.field, &one.message, &one.remedy)).collect()
    }

    /// Returns the problems that a post has on an account.
    pub fn on(account: &account::Model, draft: &Draft, error: &Error) -> Vec<Self> {
        let mut all = Self::of(error);
        for (place, one) in all.iter_mut().enumerate() {
            one.account = account_name(&account.username);
            one.accounts = vec![account.id];
            if let Some(broken) = error.violations().get(place) {
                one.input = input_of(&broken.field, account, draft);
            }
        }
        all
    }

    /// Returns the problems of a set with a target on each of these accounts, in their order.
    pub fn of_set(accounts: &[account::Model], draft: &Draft, error: &Error) -> Vec<Self> {
        let mut all = Self::of(error);
        for (one, broken) in all.iter_mut().zip(error.violations()) {
            let (own, field) = match target_of(&broken.field) {
                Some((place, field)) => (accounts.get(place), field),
                None => (None, broken.field.as_str()),
            };
            let places = broken.targets.iter().flatten();
            let shared = places.filter_map(|place| accounts.get(*place));
            let concerned: Vec<&account::Model> =
                own.map_or_else(|| shared.collect(), |own| vec![own]);
            let names = concerned.iter().map(|account| account_name(&account.username));
            one.account = names.collect::<Vec<_>>().join(", ");
            one.accounts = concerned.iter().map(|account| account.id).collect();
            one.field = field.replace('_', " ");
            one.input = own.map_or_else(|| input(field, None), |own| input_of(field, own, draft));
        }
        all
    }
}

/// Splits the path of a field of a target: its index, and its path in the target.
fn target_of(field: &str) -> Option<(usize, &str)> {
    let (index, rest) = field.strip_prefix("targets[")?.split_once(']')?;
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    Some((index.parse().ok()?, if rest.is_empty() { "account_id" } else { rest }))
}

/// Returns the name of the form's field for a field of the post on an account.
fn input_of(field: &str, account: &account::Model, draft: &Draft) -> String {
    match field {
        "caption" if draft.own_text(account).is_some() => own_text_field(account),
        _ => input(field, Some(account)),
    }
}

/// Returns the name of the form's field for a field of the request, of one account or of all.
fn input(field: &str, account: Option<&account::Model>) -> String {
    let first = field.split(['.', '[']).next().unwrap_or(field);
    let setting = field.strip_prefix("settings.").or((first == "post_type").then_some(first));
    match (setting, account) {
        (Some(setting), Some(account)) => {
            let setting = setting.split(['.', '[']).next().unwrap_or(setting);
            settings::named(account, setting)
        }
        _ if first == "media_urls" => "media".to_owned(),
        _ => first.to_owned(),
    }
}

/// Returns the error that represents these problems, with the form's fields.
pub fn refusal(problems: &[Problem]) -> Error {
    let code = Code::InvalidField;
    let all = problems
        .iter()
        .map(|one| violation(code, one.input.clone(), one.message.clone(), one.remedy.clone()));
    let broken = Error::check(all.collect::<Vec<_>>());
    broken.err().unwrap_or_else(|| Error::new(code, "Something is missing."))
}

#[cfg(test)]
mod tests {
    use super::target_of;

    #[test]
    fn the_field_of_a_target_names_its_place() {
        assert_eq!(target_of("targets[3].settings.title"), Some((3, "settings.title")));
        assert_eq!(target_of("targets[0]"), Some((0, "account_id")));
        assert_eq!(target_of("targets"), None);
        assert_eq!(target_of("caption"), None);
    }
}
