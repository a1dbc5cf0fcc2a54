//! The names of the numbers that can be set on a simulated network, and what each of them is there.

use std::collections::BTreeMap;

use fanfare_core::error::{Code, Error, Result, Violations, violation};
use fanfare_platforms::{PlatformId, fix::closest_name};
use serde_json::{Map, Value, json};

/// What numbers are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// The account as it is now, and its reach in periods.
    Now,
    /// The account on a day.
    Day,
    /// A post.
    Post,
}

/// What a number is on a simulated network.
enum Is {
    /// A number of the network, under this name.
    Its(&'static str),
    /// The sum of these: the first gets the whole number, the others none.
    Sum(&'static [&'static str]),
    /// The first of these less the second.
    Difference(&'static str, &'static str),
}

/// A number that can be set, and what it is.
struct Known(&'static str, Is);

/// The numbers that a network has.
struct Numbers {
    platform: &'static str,
    now: &'static [&'static str],
    days: &'static [Known],
    posts: &'static [Known],
}

const fn its(name: &'static str) -> Known {
    Known(name, Is::Its(name))
}

const fn called(name: &'static str, there: &'static str) -> Known {
    Known(name, Is::Its(there))
}

const fn sum(name: &'static str, parts: &'static [&'static str]) -> Known {
    Known(name, Is::Sum(parts))
}

const WITH_PERIODS: &[&str] = &["followers", "reach_7", "reach_28", "reach_30"];
const ARTICLES: &[Known] = &[its("likes"), its("comments"), its("views")];
const GOOGLE_CLICKS: &[&str] = &["website_clicks", "calls", "directions", "bookings"];

const NUMBERS: [Numbers; 14] = [
    Numbers {
        platform: "bluesky",
        now: &[],
        days: &[],
        posts: &[its("likes"), its("comments"), its("reposts"), its("quotes"), its("saves")],
    },
    Numbers { platform: "devto", now: &[], days: &[], posts: ARTICLES },
    Numbers {
        platform: "facebook",
        now: &["followers", "fan_count", "reach_7", "reach_28", "reach_30"],
        days: &[
            its("reach"),
            its("views"),
            its("engagements"),
            called("post_engagements", "engagements"),
            its("profile_views"),
            called("page_views", "profile_views"),
            its("follows"),
            its("unfollows"),
            Known("follower_delta", Is::Difference("follows", "unfollows")),
        ],
        posts: &[
            its("likes"),
            its("comments"),
            its("shares"),
            its("reach"),
            its("views"),
            its("plays"),
            its("clicks"),
        ],
    },
    Numbers {
        platform: "google_business",
        now: &[],
        days: &[
            its("search_views"),
            its("map_views"),
            its("mobile_search_views"),
            its("mobile_map_views"),
            sum("views", &["map_views", "search_views", "mobile_map_views", "mobile_search_views"]),
            its("calls"),
            its("website_clicks"),
            its("directions"),
            its("bookings"),
            sum("clicks", GOOGLE_CLICKS),
            sum("engagements", GOOGLE_CLICKS),
            its("messaging_clicks"),
            its("food_menu_clicks"),
        ],
        posts: &[],
    },
    Numbers { platform: "hashnode", now: &[], days: &[], posts: ARTICLES },
    Numbers {
        platform: "instagram",
        now: WITH_PERIODS,
        days: &[
            its("reach"),
            its("views"),
            its("likes"),
            its("comments"),
            its("shares"),
            its("saves"),
            sum("engagements", &["likes", "comments", "shares", "saves"]),
            its("clicks"),
            called("profile_link_taps", "clicks"),
            its("accounts_engaged"),
            its("total_interactions"),
        ],
        posts: &[
            its("likes"),
            its("comments"),
            its("reach"),
            its("saves"),
            its("shares"),
            its("reposts"),
            its("views"),
            called("plays", "views"),
        ],
    },
    Numbers { platform: "lemmy", now: &[], days: &[], posts: &[its("likes"), its("comments")] },
    Numbers {
        platform: "linkedin",
        now: &["followers"],
        days: &[
            its("reach"),
            called("unique_impressions", "reach"),
            its("views"),
            its("likes"),
            its("comments"),
            its("shares"),
            sum("engagements", &["likes", "comments", "shares"]),
            its("clicks"),
            its("follower_delta"),
            its("page_views"),
        ],
        posts: &[
            its("likes"),
            its("comments"),
            its("reach"),
            its("impressions"),
            its("shares"),
            its("saves"),
            its("clicks"),
        ],
    },
    Numbers {
        platform: "mastodon",
        now: &[],
        days: &[],
        posts: &[its("likes"), its("comments"), its("reposts"), its("quotes")],
    },
    Numbers {
        platform: "pinterest",
        now: &["followers"],
        days: &[
            its("views"),
            its("saves"),
            its("pin_clicks"),
            its("outbound_clicks"),
            sum("clicks", &["pin_clicks", "outbound_clicks"]),
            sum("engagements", &["saves", "pin_clicks", "outbound_clicks"]),
            called("pinterest_engagements", "engagements"),
        ],
        posts: &[
            its("likes"),
            its("comments"),
            its("impressions"),
            its("saves"),
            its("plays"),
            its("pin_clicks"),
            its("outbound_clicks"),
            sum("clicks", &["pin_clicks", "outbound_clicks"]),
        ],
    },
    Numbers {
        platform: "threads",
        now: &["followers"],
        days: &[
            its("views"),
            called("profile_views", "views"),
            its("likes"),
            its("comments"),
            its("reposts"),
            its("quotes"),
            sum("shares", &["reposts", "quotes"]),
            sum("engagements", &["likes", "comments", "reposts", "quotes"]),
            its("clicks"),
            called("link_clicks", "clicks"),
        ],
        posts: &[
            its("likes"),
            its("comments"),
            its("shares"),
            its("reposts"),
            its("quotes"),
            its("views"),
        ],
    },
    Numbers {
        platform: "tiktok",
        now: &[],
        days: &[],
        posts: &[
            its("likes"),
            its("comments"),
            its("shares"),
            its("views"),
            called("plays", "views"),
        ],
    },
    Numbers {
        platform: "x",
        now: &[],
        days: &[],
        posts: &[
            its("likes"),
            its("comments"),
            its("impressions"),
            its("saves"),
            its("reposts"),
            its("quotes"),
        ],
    },
    Numbers {
        platform: "youtube",
        now: &["followers"],
        days: &[
            its("views"),
            its("likes"),
            its("comments"),
            its("shares"),
            sum("engagements", &["likes", "comments", "shares"]),
            its("subscribers_gained"),
            its("subscribers_lost"),
            Known("follower_delta", Is::Difference("subscribers_gained", "subscribers_lost")),
            its("watch_minutes"),
            its("engaged_views"),
        ],
        posts: &[its("likes"), its("comments"), its("views"), called("plays", "views")],
    },
];

impl Subject {
    const ALL: [Self; 3] = [Self::Now, Self::Day, Self::Post];

    const fn words(self) -> &'static str {
        match self {
            Self::Now => "of the account as it is now",
            Self::Day => "of days",
            Self::Post => "of posts",
        }
    }

    const fn remedy(self) -> &'static str {
        match self {
            Self::Now => "Leave `date` and `post_id` out to set it.",
            Self::Day => "Send `date` without `post_id` to set it.",
            Self::Post => "Send `post_id` to set it.",
        }
    }
}

/// Returns the names of the numbers that a network has of a subject.
fn names(platform: PlatformId, subject: Subject) -> Vec<&'static str> {
    let numbers = NUMBERS.iter().find(|numbers| numbers.platform == platform.as_str());
    let Some(numbers) = numbers else { return Vec::new() };
    match subject {
        Subject::Now => numbers.now.to_vec(),
        Subject::Day => numbers.days.iter().map(|known| known.0).collect(),
        Subject::Post => numbers.posts.iter().map(|known| known.0).collect(),
    }
}

/// Returns what a number is on a network.
fn meaning(platform: PlatformId, subject: Subject, name: &str) -> Option<&'static Is> {
    let numbers = NUMBERS.iter().find(|numbers| numbers.platform == platform.as_str())?;
    let known = if subject == Subject::Day { numbers.days } else { numbers.posts };
    known.iter().find(|known| known.0 == name).map(|known| &known.1)
}

/// Returns the numbers as the simulated network has them: a sum becomes its parts.
///
/// # Errors
/// [`Code::InvalidField`] for a number that the network does not have, and for two names of one number.
pub(super) fn as_there(
    platform: PlatformId,
    subject: Subject,
    metrics: &Map<String, Value>,
) -> Result<Map<String, Value>> {
    let (mut there, mut set_by) = (Map::new(), BTreeMap::new());
    let mut broken = Violations::default();
    let known = names(platform, subject);
    for (name, value) in metrics {
        let field = format!("metrics.{name}");
        if !known.contains(&name.as_str()) {
            let (message, remedy) = unknown(platform, subject, name);
            broken.push(violation(Code::InvalidField, field, message, remedy));
            continue;
        }
        let parts = match meaning(platform, subject, name) {
            None => vec![(name.as_str(), value.clone())],
            Some(is) => is.parts(value),
        };
        let other = parts.iter().find_map(|(part, _)| set_by.get(*part).copied());
        if let Some(other) = other {
            let message = format!("`{name}` and `{other}` set the same number of {platform}.");
            broken.push(violation(Code::InvalidField, field, message, "Send one of them."));
            continue;
        }
        set_by.extend(parts.iter().map(|(part, _)| (*part, name.as_str())));
        there.extend(parts.into_iter().map(|(part, value)| (part.to_owned(), value)));
    }
    Error::check(broken).map(|()| there)
}

impl Is {
    /// Returns the numbers of the network that this one is, with their values.
    fn parts(&self, value: &Value) -> Vec<(&'static str, Value)> {
        match self {
            Self::Its(name) => vec![(*name, value.clone())],
            Self::Sum(parts) => {
                let share = |place: usize| {
                    if place > 0 && value.is_number() { json!(0) } else { value.clone() }
                };
                parts.iter().enumerate().map(|(place, part)| (*part, share(place))).collect()
            }
            Self::Difference(more, less) => match value.as_i64() {
                Some(number) => vec![
                    (*more, json!(number.max(0))),
                    (*less, json!(number.min(0).saturating_neg())),
                ],
                None => vec![(*more, value.clone()), (*less, value.clone())],
            },
        }
    }
}

/// Says that there is no number of this name, and which one may be meant.
fn unknown(platform: PlatformId, subject: Subject, name: &str) -> (String, String) {
    let of = subject.words();
    let elsewhere = Subject::ALL
        .into_iter()
        .find(|other| *other != subject && names(platform, *other).contains(&name));
    let known = names(platform, subject);
    let remedy = match (elsewhere, closest_name(name, known.iter().copied())) {
        (Some(other), _) => other.remedy().to_owned(),
        (None, Some(near)) => format!("Did you mean `{near}`?"),
        (None, None) if known.is_empty() => "Leave it out.".to_owned(),
        (None, None) => format!("Its numbers {of} are {}.", known.join(", ")),
    };
    (format!("{platform} has no number {name:?} {of}."), remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(platform: &str, subject: Subject, metrics: &Value) -> Result<Map<String, Value>> {
        let metrics = metrics.as_object().unwrap();
        as_there(platform.parse().unwrap(), subject, metrics)
    }

    #[test]
    fn a_sum_is_told_as_its_parts() {
        let clicks = told("pinterest", Subject::Post, &json!({"clicks": 9})).unwrap();
        assert_eq!(json!(clicks), json!({"pin_clicks": 9, "outbound_clicks": 0}));
        let refused = told("google_business", Subject::Day, &json!({"views": "refused"})).unwrap();
        assert_eq!((refused.len(), &refused["mobile_map_views"]), (4, &json!("refused")));
        let lost = told("youtube", Subject::Day, &json!({"follower_delta": -4})).unwrap();
        assert_eq!(json!(lost), json!({"subscribers_gained": 0, "subscribers_lost": 4}));
        let shares = told("threads", Subject::Post, &json!({"shares": 3})).unwrap();
        assert_eq!(json!(shares), json!({"shares": 3}));
    }

    #[test]
    fn two_names_of_one_number_are_refused() {
        for metrics in [json!({"clicks": 9, "pin_clicks": 4}), json!({"clicks": 1, "saves": 2})] {
            let is_refused = told("pinterest", Subject::Day, &metrics).is_err();
            assert_eq!(is_refused, metrics["saves"].is_null(), "{metrics}");
        }
        let both = json!({"engagements": 9, "clicks": 4});
        assert!(told("google_business", Subject::Day, &both).is_err());
    }

    #[test]
    fn a_number_that_the_network_does_not_have_is_refused_with_what_is_meant() {
        let says = |platform: &str, subject, metrics: Value| {
            let error = told(platform, subject, &metrics).unwrap_err();
            let broken = &error.violations()[0];
            (broken.field.clone(), broken.remedy.clone())
        };
        let (field, remedy) = says("threads", Subject::Post, json!({"likess": 3}));
        assert_eq!((field.as_str(), remedy.contains("`likes`")), ("metrics.likess", true));
        let (_, remedy) = says("instagram", Subject::Day, json!({"followers": 3}));
        assert!(remedy.contains("Leave `date`"), "{remedy}");
        let (_, remedy) = says("telegram", Subject::Post, json!({"likes": 3}));
        assert_eq!(remedy, "Leave it out.");
        let reach = json!({"reach_28": 1, "followers": null});
        assert!(told("instagram", Subject::Now, &reach).is_ok());
    }
}
