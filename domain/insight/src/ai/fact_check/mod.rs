//! The fact check: a caption may claim only known facts.
//!
//! Six kinds of claims are recognised, a file each: links, handles, prices, dates, times and phone numbers. They are
//! compared by value: `9`, `9.00` and `9,00` are one amount. Forbidden phrases are found as well. It is pure, and the
//! same for every provider. Numbers in words are not recognised.

mod date;
mod handle;
mod link;
mod never_say;
mod phone;
mod price;
#[cfg(test)]
mod tests;
mod text;
mod time;
mod vocabulary;

use text::Text;

/// The fault of a text.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FindingReason {
    /// A price, a percentage or an offer that is in no fact.
    UnverifiedPrice,
    /// A date that is in no fact.
    UnverifiedDate,
    /// A time of day that is in no fact.
    UnverifiedTime,
    /// A phone number that is in no fact.
    UnverifiedPhone,
    /// A link or an e-mail address that is in no fact.
    UnverifiedLink,
    /// A handle that is in no fact and belongs to no account.
    UnverifiedHandle,
    /// A phrase that must not be used.
    NeverSay,
    /// The text is longer than the network takes.
    TooLong,
    /// The text is the same as another one.
    Duplicate,
    /// The model wrote no such text, or an empty one.
    Missing,
}

/// A flaw of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind of flaw.
    pub reason: FindingReason,
    /// The words that it is about.
    pub fragment: String,
}

/// A claim, by its value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Claim {
    Link {
        host: String,
        path: String,
    },
    Mail(String),
    Handle(String),
    Price {
        hundredths: i64,
        currency: String,
    },
    Bargain {
        of: i64,
        pays: i64,
    },
    Date(Vec<date::Date>),
    Relative(String),
    Time(Vec<u16>),
    /// A phone number, and its beginnings that may be phone numbers too.
    Phone(Vec<String>),
}

impl Claim {
    const fn reason(&self) -> FindingReason {
        match self {
            Self::Link { .. } | Self::Mail(_) => FindingReason::UnverifiedLink,
            Self::Handle(_) => FindingReason::UnverifiedHandle,
            Self::Price { .. } | Self::Bargain { .. } => FindingReason::UnverifiedPrice,
            Self::Date(_) | Self::Relative(_) => FindingReason::UnverifiedDate,
            Self::Time(_) => FindingReason::UnverifiedTime,
            Self::Phone(_) => FindingReason::UnverifiedPhone,
        }
    }

    /// Returns true if a known claim says the same, or more.
    fn is_covered_by(&self, known: &Self) -> bool {
        match (self, known) {
            (Self::Link { host, path }, Self::Link { host: known, path: other }) => {
                host == known && (path.is_empty() || path == other)
            }
            (Self::Link { host, path }, Self::Mail(known)) => {
                path.is_empty() && known.rsplit('@').next() == Some(host)
            }
            (Self::Price { .. }, Self::Price { .. }) => price::is_same(self, known),
            (Self::Date(asked), Self::Date(known)) => date::is_part(asked, known),
            (Self::Time(asked), Self::Time(known)) => asked.iter().any(|it| known.contains(it)),
            (Self::Phone(asked), Self::Phone(known)) => phone::is_same(asked, known),
            (asked, known) => asked == known,
        }
    }
}

/// A claim, and its position in the text.
#[derive(Debug, Clone)]
struct FoundClaim {
    claim: Claim,
    start: usize,
    end: usize,
}

/// Finds all claims of a text. Each kind of claim ignores what the kinds before it have found.
fn claims(text: &mut Text) -> Vec<FoundClaim> {
    let mut found = Vec::new();
    for look in [link::find, handle::find, price::find, date::find, time::find, phone::find] {
        found.extend(look(text));
    }
    found
}

/// The known facts.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    known: Vec<Claim>,
    never_say: Vec<(Vec<String>, String)>,
}

impl Facts {
    /// Adds a text whose claims are true.
    pub fn add(&mut self, fact: &str) {
        let claims = claims(&mut Text::of(fact)).into_iter().map(|found| found.claim);
        self.known.extend(claims);
    }

    /// Adds the words of somebody whom nobody here knows. They are no source of links, numbers, prices and handles; only
    /// a day in words, such as that of a visit, may be repeated.
    pub fn add_strangers_words(&mut self, words: &str) {
        let mut text = Text::of(words);
        for found in claims(&mut text) {
            let is_day = matches!(found.claim, Claim::Date(_) | Claim::Relative(_));
            let fragment = text.fragment(found.start, found.end);
            if is_day && !fragment.chars().any(char::is_numeric) {
                self.known.push(found.claim);
            }
        }
    }

    /// Adds the username of an account, which may be mentioned.
    pub fn add_username(&mut self, username: &str) {
        self.add(username);
        self.known.push(Claim::Handle(handle::value(username)));
    }

    /// Adds a phrase that must not be used.
    pub fn never_say(&mut self, phrase: &str) {
        let words = text::plain_words(phrase);
        if !words.is_empty() {
            self.never_say.push((words, phrase.to_owned()));
        }
    }

    /// Returns the claims of a text that are not known, and the forbidden phrases in it, one finding each.
    #[must_use]
    pub fn check(&self, text: &str) -> Vec<Finding> {
        let mut text = Text::of(text);
        let mut findings = never_say::find(&text, &self.never_say);
        for found in claims(&mut text) {
            if !self.known.iter().any(|known| found.claim.is_covered_by(known)) {
                let fragment = text.fragment(found.start, found.end);
                findings.push(Finding { reason: found.claim.reason(), fragment });
            }
        }
        findings
    }
}
