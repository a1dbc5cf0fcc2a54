//! Data for the documentation: the version of a network's API, the sources of its facts, examples, and notes.

use chrono::NaiveDate;

/// A version of a network's API.
#[derive(Debug, Clone, Copy)]
pub struct SupportedApi {
    /// The version, as requests contain it.
    pub version: &'static str,
    /// The day (`YYYY-MM-DD`) on which the network shuts it down, once announced.
    pub ends: Option<&'static str>,
}

impl SupportedApi {
    /// Returns the days from `today` to the end of the version, negative once it has passed; `None` while no end is
    /// announced.
    #[must_use]
    pub fn days_left(&self, today: NaiveDate) -> Option<i64> {
        let ends = NaiveDate::parse_from_str(self.ends?, "%Y-%m-%d").ok()?;
        Some((ends - today).num_days())
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
    /// the network's id and the address of an earlier post of the account.
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
        let api = |ends| SupportedApi { version: "v1", ends };
        let left = |ends, today: &str| api(ends).days_left(today.parse().unwrap());
        assert_eq!(left(Some("2030-03-01"), "2030-02-27"), Some(2));
        assert_eq!(left(Some("2030-03-01"), "2030-03-02"), Some(-1));
        assert_eq!(left(None, "2030-03-02"), None);
    }
}
