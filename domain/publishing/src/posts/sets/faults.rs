//! The faults of a set: those of its own fields, and those of single targets, each at the place where the value was given.

use std::collections::BTreeMap;

use fanfare_core::{
    Act,
    error::{Code, Error, Fix, Result, Violation, Violations, violation},
    remedies::{self, AccountRef, RequestContext, Rights},
};
use fanfare_entities::account;
use fanfare_platforms::fix::pointer;
use serde_json::Value;

use super::levels::{Origin, Origins};

/// The fields of a set's own that are wrong, and what is wrong with each target, by its index in the request.
#[derive(Default)]
pub struct Faults {
    /// Faults of the set itself: nothing is made, whatever the mode.
    pub own: Violations,
    targets: BTreeMap<usize, Vec<Fault>>,
}

/// A fault of a target.
struct Fault {
    /// The violation at its place in the request.
    violation: Violation,
    /// The violation as the same post alone would have it, for the target's own error.
    alone: Violation,
    status: u16,
}

/// The source of a target's content, by which its faults are placed.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The index of the target in the request.
    pub index: usize,
    /// The platform's name.
    pub platform: &'a str,
    /// Where each part comes from.
    pub from: &'a Origins,
    /// True if the target has a time of its own.
    pub own_time: bool,
}

impl Faults {
    /// Returns true if the target with this index has a fault.
    #[must_use]
    pub fn has(&self, index: usize) -> bool {
        self.targets.contains_key(&index)
    }

    /// Returns true if there is no fault.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && self.targets.is_empty()
    }

    /// Returns the indexes of the refused targets.
    pub fn refused(&self) -> impl Iterator<Item = usize> + '_ {
        self.targets.keys().copied()
    }

    /// Adds a fault that stands at a target.
    pub fn at_target(&mut self, index: usize, found: Violation) {
        let status = status_of(&found);
        let alone = found.clone();
        let violation = within(&format!("targets[{index}]"), found);
        self.targets.entry(index).or_default().push(Fault { violation, alone, status });
    }

    /// Adds everything that is wrong with a target, each at the level that its value comes from.
    ///
    /// # Errors
    /// An error that is not about the target: the database cannot be reached, or a limit.
    pub fn of_target(
        &mut self,
        act: &Act,
        (source, account): (Source<'_>, Option<&account::Model>),
        error: Error,
    ) -> Result<()> {
        if error.violations().is_empty() {
            if error.status() >= 500 || error.status() == 429 {
                return Err(error);
            }
            let code = error.code();
            let field = if code == Code::AccountNotFound { "account_id" } else { "suggestion_id" };
            let found = violation(code, field, error.message(), code.entry().remedy);
            self.at_target(source.index, found);
            return Ok(());
        }
        for mut found in error.into_violations() {
            if let Some((code, account)) = Code::named(found.code).zip(account) {
                found.next = remedies::next_calls(code, Some(&found), &situation(act, account));
            }
            self.place(source, found);
        }
        Ok(())
    }

    /// Adds everything that keeps the target at this place of a set from being changed with it.
    ///
    /// # Errors
    /// An error that is not about the target.
    pub fn of_whole(&mut self, place: usize, error: Error) -> Result<()> {
        if error.status() >= 500 {
            return Err(error);
        }
        let mut found = error.violations().to_vec();
        if found.is_empty() {
            let code = error.code();
            found.push(violation(code, "status", error.message(), code.entry().remedy));
        }
        for one in found {
            let status = status_of(&one);
            let alone = Violation { fix: Vec::new(), ..one };
            let violation = Violation { targets: Some(vec![place]), ..alone.clone() };
            self.targets.entry(place).or_default().push(Fault { violation, alone, status });
        }
        Ok(())
    }

    /// Adds everything that is wrong with the changed content of the target at this place of a set; `asked` is its index
    /// among the changes, if it is named there.
    ///
    /// # Errors
    /// An error that is not about the target.
    pub fn of_change(
        &mut self,
        (place, asked): (usize, Option<usize>),
        source: Source<'_>,
        error: Error,
    ) -> Result<()> {
        if error.violations().is_empty() {
            return self.of_whole(place, error);
        }
        for found in error.into_violations() {
            let prefix = match (origin(source, &found.field), asked) {
                (Origin::Platform, _) => format!("per_platform.{}", source.platform),
                (Origin::Shared | Origin::Default, _) | (Origin::Target, None) => String::new(),
                (Origin::Target, Some(index)) => format!("targets[{index}]"),
            };
            let status = status_of(&found);
            let alone = Violation { fix: Vec::new(), ..found };
            let mut violation = within(&prefix, alone.clone());
            violation.targets = Some(vec![place]);
            self.targets.entry(place).or_default().push(Fault { violation, alone, status });
        }
        Ok(())
    }

    /// Adds why a target's account was not found.
    ///
    /// # Errors
    /// An error that is not about the target.
    pub fn of_target_alone(&mut self, index: usize, error: Error) -> Result<()> {
        if !error.violations().is_empty() || error.status() >= 500 {
            let found = error.violations().to_vec();
            if found.is_empty() {
                return Err(error);
            }
            found.into_iter().for_each(|one| self.at_target(index, one));
            return Ok(());
        }
        let code = error.code();
        let field = match code {
            Code::BrandNotFound => "workspace_client_id",
            Code::AmbiguousAccount => "username",
            _ => "account_id",
        };
        self.at_target(index, violation(code, field, error.message(), code.entry().remedy));
        Ok(())
    }

    fn place(&mut self, source: Source<'_>, found: Violation) {
        let index = source.index;
        let prefix = match origin(source, &found.field) {
            Origin::Target | Origin::Default => return self.at_target(index, found),
            Origin::Platform => format!("per_platform.{}", source.platform),
            Origin::Shared => String::new(),
        };
        let status = status_of(&found);
        let alone = found.clone();
        let is_own = found.code == Code::UnknownField.entry().code;
        if is_own {
            let violation = within(&prefix, found);
            if !self.own.iter().any(|known| known.field == violation.field) {
                self.own.push(violation);
            }
            return;
        }
        // The value may be right for other targets, so a correction gives this one a value of its own.
        let fixes = found.fix.iter().map(|fix| as_override(fix, index)).collect::<Option<Vec<_>>>();
        let bare = Violation { fix: Vec::new(), ..found };
        let mut violation = within(&prefix, bare);
        violation.fix = fixes.unwrap_or_default();
        violation.targets = Some(vec![index]);
        self.targets.entry(index).or_default().push(Fault { violation, alone, status });
    }

    /// Returns the error of a target by itself, as an item of `refused`.
    #[must_use]
    pub fn error_of(&self, index: usize) -> Option<TargetError> {
        let faults = self.targets.get(&index)?;
        let first = faults.first()?;
        let violations: Vec<_> = faults
            .iter()
            .map(|fault| Violation { fix: Vec::new(), ..fault.violation.clone() })
            .take(Violations::LISTED_MAX)
            .collect();
        Some(TargetError {
            status: first.status,
            code: first.alone.code,
            error: first.alone.message.clone(),
            validation_errors: violations,
        })
    }

    /// Fails if there is a fault, of the set itself alone if `only_own`.
    ///
    /// # Errors
    /// All faults, in one error.
    pub fn check(self, only_own: bool) -> Result<()> {
        if self.own.is_empty() && (only_own || self.targets.is_empty()) {
            return Ok(());
        }
        if self.targets.is_empty() {
            return Error::check(self.own);
        }
        let mut all: Vec<Violation> = self.own.into_iter().collect();
        for fault in self
            .targets
            .into_values()
            .flat_map(|faults| faults.into_iter().take(Violations::LISTED_MAX).collect::<Vec<_>>())
        {
            merge(&mut all, fault.violation);
        }
        // A repeated target is removed after all other corrections, the last first, so that the indexes stay true.
        let (mut twice, mut rest): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|one| one.code == Code::DuplicateTarget.entry().code);
        twice.reverse();
        rest.append(&mut twice);
        for one in rest.iter_mut().filter(|one| one.targets.as_ref().is_some_and(|of| of.len() > 1))
        {
            one.targets.iter_mut().for_each(|of| of.sort_unstable());
        }
        Err(Error::targets_refused(rest))
    }
}

/// The faults of a target, in the shape of an item of a batch.
pub struct TargetError {
    /// The HTTP status that the same post alone would have.
    pub status: u16,
    /// The first code.
    pub code: &'static str,
    /// The first message.
    pub error: String,
    /// All of it.
    pub validation_errors: Vec<Violation>,
}

/// Adds a violation, or the target to an equal one that has the same cause.
fn merge(all: &mut Vec<Violation>, found: Violation) {
    let same = |one: &&mut Violation| {
        one.targets.is_some()
            && found.targets.is_some()
            && one.code == found.code
            && one.field == found.field
            && one.message == found.message
    };
    match all.iter_mut().find(same) {
        Some(one) => {
            let (known, more) = (one.targets.get_or_insert_default(), found.targets);
            for index in more.into_iter().flatten() {
                if !known.contains(&index) {
                    known.push(index);
                }
            }
            let fixes = found.fix.into_iter().filter(|fix| !one.fix.contains(fix));
            let fixes: Vec<_> = fixes.collect();
            one.fix.extend(fixes);
        }
        None => all.push(found),
    }
}

/// Returns the correction of a shared value as one of a target alone; `None` if it is about a part of the value.
fn as_override(fix: &Fix, index: usize) -> Option<Fix> {
    let place = |path: &str| {
        let is_whole = match path.matches('/').count() {
            1 => matches!(path, "/caption" | "/post_type"),
            2 => path.starts_with("/settings/") || path.starts_with("/metadata/"),
            _ => false,
        };
        is_whole.then(|| format!("/targets/{index}{path}"))
    };
    Some(match fix {
        Fix::Add { path, value } | Fix::Replace { path, value } => {
            Fix::Add { path: place(path)?, value: value.clone() }
        }
        Fix::Remove { path } => Fix::Add { path: place(path)?, value: Value::Null },
        Fix::Move { .. } => return None,
    })
}

fn status_of(found: &Violation) -> u16 {
    Code::named(found.code).map_or(400, |code| code.entry().status)
}

/// Returns the level that the value of a field comes from.
fn origin(source: Source<'_>, field: &str) -> Origin {
    if field.starts_with("scheduled_at") || field.starts_with("timezone") {
        return if source.own_time { Origin::Target } else { Origin::Shared };
    }
    let end = field.find('[').unwrap_or(field.len());
    let steps: Vec<&str> = field[..end].splitn(3, '.').collect();
    let part = match steps.as_slice() {
        ["media_url" | "media_urls", ..] => "media".to_owned(),
        [part @ ("settings" | "metadata"), key, ..] => format!("{part}.{key}"),
        [part, ..] => (*part).to_owned(),
        [] => String::new(),
    };
    source.from.get(&part).copied().unwrap_or(Origin::Target)
}

/// Returns a violation of an object as one of the body that holds it at `prefix`.
#[must_use]
pub fn within(prefix: &str, mut found: Violation) -> Violation {
    if prefix.is_empty() {
        return found;
    }
    let place = pointer(prefix);
    let at = |path: String| format!("{place}{path}");
    found.field = if found.field.is_empty() {
        prefix.to_owned()
    } else {
        format!("{prefix}.{}", found.field)
    };
    found.fix = found
        .fix
        .into_iter()
        .map(|fix| match fix {
            Fix::Add { path, value } => Fix::Add { path: at(path), value },
            Fix::Move { from, path } => Fix::Move { from: at(from), path: at(path) },
            Fix::Remove { path } => Fix::Remove { path: at(path) },
            Fix::Replace { path, value } => Fix::Replace { path: at(path), value },
        })
        .collect();
    found
}

fn situation(act: &Act, account: &account::Model) -> RequestContext {
    RequestContext {
        base_url: act.cx.settings.base_url.clone(),
        account: Some(AccountRef::from(account)),
        rights: Some(Rights::of(act)),
        ..RequestContext::default()
    }
}
