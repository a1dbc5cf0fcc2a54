//! Why a step of a set was refused, at the accounts that it is about.

use fanfare_core::{Code, Error, Result, error::violation};
use fanfare_entities::PostSetId;
use fanfare_publishing::{accounts, posts::sets::pages::WholeSet};
use maud::{Markup, html};

use crate::{
    dashboard::{
        marks::account_name,
        page_member::PageMember,
        parts::{one_line, ticked},
    },
    oauth_connect::Visit,
};

/// The most faults that are listed.
const MOST: usize = 50;

/// Returns the names of the accounts that a refusal speaks of by their places: those that were to be added, or those of the
/// set.
///
/// # Errors
/// The database's.
pub async fn names(visit: &Visit, seat: &PageMember, id: PostSetId) -> Result<Vec<String>> {
    if visit.path("verb") == "add" {
        let known = accounts::all(&seat.act).await?;
        let asked = ticked(visit, "account_id").into_iter().map(|id| {
            let found = known.iter().find(|row| row.id.to_string() == id);
            found.map_or(id, |row| account_name(&row.username))
        });
        return Ok(asked.collect());
    }
    let whole = WholeSet::find(&seat.act, id).await?;
    let names = whole.targets.into_iter().map(|one| one.username.unwrap_or_default());
    Ok(names.map(|name| account_name(&name)).collect())
}

/// Renders a refusal.
pub fn shown(visit: &Visit, error: &Error, names: &[String]) -> Markup {
    html! {
        div.flash.bad #refusal role="alert" tabindex="-1" autofocus {
            @if error.code() == Code::StaleVersion { (stale(visit, error)) }
            @else if error.violations().is_empty() {
                p { (error.message()) }
                p { (error.details().remedy.as_deref().unwrap_or(error.code().entry().remedy)) }
            } @else {
                ul {
                    @for broken in error.violations().iter().take(MOST) {
                        @let (place, _) = target_of(&broken.field);
                        @let places = place.iter().chain(broken.targets.iter().flatten());
                        @let of: Vec<_> = places.filter_map(|place| names.get(*place)).map(String::as_str).collect();
                        li {
                            @if !of.is_empty() { strong { (one_line(&of.join(", "), 200)) ": " } }
                            (one_line(&broken.message, 300)) " " (one_line(&broken.remedy, 300))
                        }
                    }
                }
                p { "Nothing was changed." }
            }
        }
    }
}

/// Says that somebody else was faster.
fn stale(visit: &Visit, error: &Error) -> Markup {
    html! {
        p { strong { "It was changed meanwhile, so nothing of yours was saved." } }
        p {
            "You saw version " (visit.form("version").unwrap_or("?"))
            @if let Some(now) = error.details().version { "; below is version " (now) }
            ". What you typed is still in its form: compare the two, and send it again if it is to count."
        }
    }
}

/// Splits the path of a field into the index of its target and its path there.
fn target_of(field: &str) -> (Option<usize>, &str) {
    let found = field.strip_prefix("targets[").and_then(|rest| rest.split_once(']'));
    match found.and_then(|(index, rest)| Some((index.parse().ok()?, rest))) {
        Some((place, rest)) => (Some(place), rest.strip_prefix('.').unwrap_or(rest)),
        None => (None, field),
    }
}

/// Returns the error with the names of the form's fields.
pub fn at_fields(error: Error) -> Error {
    if error.violations().is_empty() {
        return error;
    }
    let named = error.violations().iter().map(|one| {
        let (place, field) = target_of(&one.field);
        let field = if place.is_some() && field.is_empty() { "account_id" } else { field };
        violation(Code::InvalidField, field, one.message.clone(), one.remedy.clone())
    });
    match Error::check(named.collect::<Vec<_>>()) {
        Err(of_form) => of_form,
        Ok(()) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::target_of;

    #[test]
    fn a_field_of_a_target_is_split() {
        assert_eq!(target_of("targets[2].caption"), (Some(2), "caption"));
        assert_eq!(target_of("targets[0]"), (Some(0), ""));
        assert_eq!(target_of("scheduled_at"), (None, "scheduled_at"));
    }
}
