//! Descriptions for the documentation: the version of a network's API, the sources of its facts, examples, and in words
//! everything that is not data elsewhere.

use chrono::NaiveDate;

/// A version of a network's API.
#[derive(Debug, Clone, Copy)]
pub struct Api {
    /// Its name, as requests hold it.
    pub version: &'static str,
    /// The day (`YYYY-MM-DD`) on which the network stops answering it, once that is announced.
    pub ends: Option<&'static str>,
}

impl Api {
    /// Days from `today` to the end of the version, below 0 once it has passed; `None` while no end is announced.
    #[must_use]
    pub fn days_left(&self, today: NaiveDate) -> Option<i64> {
        let ends = NaiveDate::parse_from_str(self.ends?, "%Y-%m-%d").ok()?;
        Some((ends - today).num_days())
    }
}

/// Facts about a network in words, for `docs/platforms.md`.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// The question asked after a lost answer; empty if there is none.
    pub reconcile: &'static str,
    /// The lifetime of its tokens, and how they are renewed.
    pub tokens: &'static str,
    /// The network's own software, where a test drives it; empty where none can be installed.
    pub tested: &'static str,
}

/// The source of some facts of a descriptor.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// The facts it supports.
    pub facts: &'static str,
    /// An address, or where it was seen.
    pub from: &'static str,
    /// The quality of the evidence.
    pub evidence: Evidence,
}

/// The quality of the evidence for a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// Read in the vendor's documentation, schema or source.
    Documented,
    /// Seen in what software does that works with it.
    Observed,
    /// Neither; easy to change.
    Assumed,
}

impl Source {
    /// Facts that the vendor publishes.
    #[must_use]
    pub const fn documented(facts: &'static str, from: &'static str) -> Self {
        Self { facts, from, evidence: Evidence::Documented }
    }

    /// Facts that were seen, not promised.
    #[must_use]
    pub const fn observed(facts: &'static str, from: &'static str) -> Self {
        Self { facts, from, evidence: Evidence::Observed }
    }

    /// Facts that nobody promises and that were not checked.
    #[must_use]
    pub const fn assumed(facts: &'static str, from: &'static str) -> Self {
        Self { facts, from, evidence: Evidence::Assumed }
    }
}

/// A post that a network takes.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// The subject of the example, in a few words.
    pub what: &'static str,
    /// The body of `POST /api/v1/posts` without account and media, as JSON. `<earlier>` and `<earlier_url>` stand for
    /// the network's id and the address of an earlier post of the account.
    pub post: &'static str,
    /// Types of its files, in order.
    pub media: &'static [&'static str],
    /// The precondition on the network, if there is one.
    pub needs: Option<&'static str>,
}

impl Example {
    /// A post without files.
    #[must_use]
    pub const fn new(what: &'static str, post: &'static str) -> Self {
        Self { what, post, media: &[], needs: None }
    }

    /// The same with files of these types.
    #[must_use]
    pub const fn with(mut self, media: &'static [&'static str]) -> Self {
        self.media = media;
        self
    }

    /// The same where something must be there first. It is checked and shown, but not sent by the suite.
    #[must_use]
    pub const fn needing(mut self, what: &'static str) -> Self {
        self.needs = Some(what);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::Api;

    #[test]
    fn days_are_counted_to_the_end_and_past_it() {
        let api = |ends| Api { version: "v1", ends };
        let left = |ends, today: &str| api(ends).days_left(today.parse().unwrap());
        assert_eq!(left(Some("2030-03-01"), "2030-02-27"), Some(2));
        assert_eq!(left(Some("2030-03-01"), "2030-03-02"), Some(-1));
        assert_eq!(left(None, "2030-03-02"), None);
    }
}
