//! The names of the numbers that can be set on a simulated network, and what each of them is there.

use fanfare_platforms::{
    PlatformId,
    analytics::{DAY_METRICS, POST_METRICS},
};
use serde_json::{Map, Value, json};

use crate::error::{Code, Error, Result, Violations, violation};

/// Numbers of single networks, besides those that every network may have.
const OF_NETWORKS: [&str; 29] = [
    "accounts_engaged",
    "average_view_seconds",
    "bookings",
    "calls",
    "conversations",
    "directions",
    "engaged_views",
    "follower_count",
    "follows",
    "food_orders",
    "link_clicks",
    "map_views",
    "mobile_map_views",
    "mobile_search_views",
    "outbound_clicks",
    "page_views",
    "pin_clicks",
    "pinterest_engagements",
    "post_engagements",
    "profile_link_taps",
    "profile_links_taps",
    "search_views",
    "subscribers_gained",
    "subscribers_lost",
    "total_interactions",
    "unfollows",
    "unique_impressions",
    "watch_minutes",
    "website_clicks",
];

/// The parts of which a number is the sum on a network: the first part gets the whole number, the others none.
struct Sum {
    platform: &'static str,
    /// True for days, false for posts.
    of_day: bool,
    name: &'static str,
    parts: &'static [&'static str],
}

const SUMS: [Sum; 5] = [
    Sum {
        platform: "pinterest",
        of_day: false,
        name: "clicks",
        parts: &["pin_clicks", "outbound_clicks"],
    },
    Sum {
        platform: "pinterest",
        of_day: true,
        name: "clicks",
        parts: &["pin_clicks", "outbound_clicks"],
    },
    Sum {
        platform: "google_business",
        of_day: true,
        name: "views",
        parts: &["map_views", "search_views", "mobile_map_views", "mobile_search_views"],
    },
    Sum {
        platform: "google_business",
        of_day: true,
        name: "clicks",
        parts: &["website_clicks", "calls", "directions", "bookings"],
    },
    Sum { platform: "threads", of_day: true, name: "shares", parts: &["reposts", "quotes"] },
];

/// Fails if there is no number of one of these names.
///
/// # Errors
/// [`Code::InvalidField`].
pub(super) fn check_names(metrics: &Map<String, Value>) -> Result<()> {
    let mut broken = Violations::default();
    for name in metrics.keys().filter(|name| !is_known(name)) {
        let message = format!("There is no number called {name:?}.");
        let remedy = match nearest(name) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => "Use a name that analytics shows, such as `likes` or `views`.".to_owned(),
        };
        broken.push(violation(Code::InvalidField, format!("metrics.{name}"), message, remedy));
    }
    Error::check(broken)
}

fn names() -> impl Iterator<Item = &'static str> {
    POST_METRICS.into_iter().chain(DAY_METRICS).chain(OF_NETWORKS)
}

fn is_known(name: &str) -> bool {
    // The reach of a period of so many days.
    let period = name.strip_prefix("reach_").is_some_and(|days| days.parse::<u8>().is_ok());
    period || names().any(|known| known == name)
}

/// Returns the known name that begins alike, or has the same letters but for one.
fn nearest(name: &str) -> Option<&'static str> {
    let common = |known: &str| name.chars().zip(known.chars()).take_while(|(a, b)| a == b).count();
    names().filter(|known| common(known) >= 3).max_by_key(|known| common(known))
}

/// Returns the numbers as the simulated network has them: a sum becomes its parts, unless one of them is given too.
pub(super) fn as_parts(
    platform: PlatformId,
    is_post: bool,
    metrics: &Map<String, Value>,
) -> Map<String, Value> {
    let mut told = metrics.clone();
    for sum in SUMS.iter().filter(|sum| sum.platform == platform.as_str()) {
        let is_given = sum.parts.iter().any(|part| metrics.contains_key(*part));
        if sum.of_day == is_post || is_given {
            continue;
        }
        let Some(value) = told.get(sum.name).cloned() else { continue };
        for (place, part) in sum.parts.iter().enumerate() {
            let is_rest = place > 0 && value.is_number();
            told.insert((*part).to_owned(), if is_rest { json!(0) } else { value.clone() });
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_sum_is_told_as_its_parts_unless_they_are_given() {
        let told = |platform: &str, is_post, metrics: Value| {
            as_parts(platform.parse().unwrap(), is_post, &object(metrics))
        };
        let clicks = told("pinterest", true, json!({"clicks": 9}));
        assert_eq!((&clicks["pin_clicks"], &clicks["outbound_clicks"]), (&json!(9), &json!(0)));
        let given = told("pinterest", true, json!({"clicks": 9, "pin_clicks": 4}));
        assert!(!given.contains_key("outbound_clicks"));
        let refused = told("google_business", false, json!({"views": "refused"}));
        assert_eq!(refused["mobile_map_views"], "refused");
        assert!(!told("threads", true, json!({"shares": 3})).contains_key("reposts"));
    }

    #[test]
    fn a_misspelt_name_is_refused_with_the_one_that_was_meant() {
        let error = check_names(&object(json!({"likes": 1, "views": 2, "likess": 3}))).unwrap_err();
        let told = format!("{error:?}");
        assert!(told.contains("metrics.likess") && told.contains("`likes`"), "{told}");
        assert!(check_names(&object(json!({"reach_28": 1, "views": null}))).is_ok());
    }
}
