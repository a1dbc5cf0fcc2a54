//! Data for the documentation: the version of a network's API, the sources of its facts, examples, and notes.

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};

/// A version of a network's API.
#[derive(Debug, Clone, Copy)]
pub struct SupportedApi {
    /// The version, as requests contain it.
    pub version: &'static str,
    /// The day (`YYYY-MM-DD`) on which it came out, if that is known.
    pub released: Option<&'static str>,
    /// The day on which the network shuts it down, once announced or computable.
    pub ends: Option<&'static str>,
    /// The way in which that day is known.
    pub ends_basis: EndsBasis,
    /// The newest version that was known when somebody last looked.
    pub newest_known: &'static str,
    /// The day on which somebody last looked.
    pub checked_at: &'static str,
}

/// The way in which the end of a version is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndsBasis {
    /// The network has announced it.
    Announced,
    /// It follows from a rule of the network, as earlier versions ended.
    Computed,
    /// It is not known.
    None,
}

impl EndsBasis {
    /// Returns its name in API responses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Announced => "announced",
            Self::Computed => "computed",
            Self::None => "none",
        }
    }
}

/// The number of days after which a look for newer versions is too long ago.
const CHECKED_DAYS_MAX: i64 = 180;

impl SupportedApi {
    /// Creates a version for which no end was announced, as of the day on which somebody last looked.
    #[must_use]
    pub const fn lasting(version: &'static str, checked_at: &'static str) -> Self {
        Self {
            version,
            released: None,
            ends: None,
            ends_basis: EndsBasis::None,
            newest_known: version,
            checked_at,
        }
    }

    /// Returns the days from `today` to the end of the version, negative once it has passed; `None` while no end is
    /// known.
    #[must_use]
    pub fn days_left(&self, today: NaiveDate) -> Option<i64> {
        let ends = NaiveDate::parse_from_str(self.ends?, "%Y-%m-%d").ok()?;
        Some((ends - today).num_days())
    }

    /// Returns the time from `now` to the start of the day on which the version ends, negative once it has passed; `None`
    /// while no end is known.
    #[must_use]
    pub fn time_left(&self, now: DateTime<Utc>) -> Option<TimeDelta> {
        let ends = NaiveDate::parse_from_str(self.ends?, "%Y-%m-%d").ok()?;
        Some(ends.and_time(NaiveTime::MIN).and_utc() - now)
    }

    /// Returns true if nobody has looked for a newer version for too long.
    #[must_use]
    pub fn is_unchecked(&self, today: NaiveDate) -> bool {
        let checked = NaiveDate::parse_from_str(self.checked_at, "%Y-%m-%d");
        checked.is_ok_and(|checked| (today - checked).num_days() > CHECKED_DAYS_MAX)
    }

    /// Returns the facts with the operator's version, of which no end is known.
    #[must_use]
    pub(crate) const fn raised_to(self, version: &'static str) -> Self {
        Self { version, released: None, ends: None, ends_basis: EndsBasis::None, ..self }
    }
}

/// Notes about a network for `docs/platforms.md`.
#[derive(Debug, Clone, Copy)]
pub struct DocNotes {
    /// The way in which a lost response is reconciled; empty if it cannot be.
    pub reconcile: &'static str,
    /// The lifetime of its tokens, and how they are renewed.
    pub tokens: &'static str,
    /// The network's own software that a test runs against; empty where none can be installed.
    pub tested: &'static str,
}

/// The source of some facts of a descriptor.
#[derive(Debug, Clone, Copy)]
pub struct SpecSource {
    /// The facts it supports.
    pub facts: &'static str,
    /// A web address, or where it was observed.
    pub from: &'static str,
    /// The quality of the evidence.
    pub evidence: Evidence,
}

/// The quality of the evidence for a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// Read in the vendor's documentation, schema or source.
    Documented,
    /// Observed in the behaviour of software that works with it.
    Observed,
    /// Neither documented nor observed; easy to change.
    Assumed,
}

impl SpecSource {
    /// Creates a source that the vendor publishes.
    #[must_use]
    pub const fn documented(facts: &'static str, from: &'static str) -> Self {
        Self { facts, from, evidence: Evidence::Documented }
    }

    /// Creates a source of facts that were observed but are not documented.
    #[must_use]
    pub const fn observed(facts: &'static str, from: &'static str) -> Self {
        Self { facts, from, evidence: Evidence::Observed }
    }

    /// Creates a source of facts that are neither documented nor checked.
    #[must_use]
    pub const fn assumed(facts: &'static str, from: &'static str) -> Self {
        Self { facts, from, evidence: Evidence::Assumed }
    }
}

/// An example of a post that a network accepts.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// The subject of the example, in a few words.
    pub what: &'static str,
    /// The body of `POST /api/v1/posts` without account and media, as JSON. `<earlier>` and `<earlier_url>` stand for
    /// the network's id and the address of an earlier post of the account, `<captions_url>` for the address of a stored
    /// WebVTT file.
    pub post: &'static str,
    /// Types of its files, in order.
    pub media: &'static [&'static str],
    /// The thing that must exist on the network first, if anything.
    pub needs: Option<&'static str>,
}

impl Example {
    /// Creates an example without files.
    #[must_use]
    pub const fn new(what: &'static str, post: &'static str) -> Self {
        Self { what, post, media: &[], needs: None }
    }

    /// Adds files of these types.
    #[must_use]
    pub const fn with(mut self, media: &'static [&'static str]) -> Self {
        self.media = media;
        self
    }

    /// Names what must exist first. Such an example is validated and documented, but the test suite does not send it.
    #[must_use]
    pub const fn requiring(mut self, what: &'static str) -> Self {
        self.needs = Some(what);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::SupportedApi;

    #[test]
    fn days_are_counted_to_the_end_and_past_it() {
        let api = |ends| SupportedApi { ends, ..SupportedApi::lasting("v1", "2030-01-01") };
        let left = |ends, today: &str| api(ends).days_left(today.parse().unwrap());
        assert_eq!(left(Some("2030-03-01"), "2030-02-27"), Some(2));
        assert_eq!(left(Some("2030-03-01"), "2030-03-02"), Some(-1));
        assert_eq!(left(None, "2030-03-02"), None);
    }

    #[test]
    fn a_look_for_newer_versions_is_due_after_half_a_year() {
        let is_unchecked = |today: &str| {
            SupportedApi::lasting("v1", "2030-01-01").is_unchecked(today.parse().unwrap())
        };
        assert!(!is_unchecked("2030-06-30"), "180 days");
        assert!(is_unchecked("2030-07-01"), "181 days");
    }

    #[test]
    fn a_version_that_the_operator_raised_has_no_end_that_is_known() {
        let known = SupportedApi {
            ends: Some("2030-03-01"),
            ends_basis: super::EndsBasis::Computed,
            ..SupportedApi::lasting("v1", "2030-01-01")
        };
        let raised = known.raised_to("v2");
        assert_eq!((raised.version, raised.ends, raised.newest_known), ("v2", None, "v1"));
    }
}
