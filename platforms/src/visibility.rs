//! The audience of a published post: the one that was asked for, compared with the one that the network names.

use crate::{Warning, WarningCode};

/// The audiences that networks name, the widest first. Those of one line are as wide as each other.
const WIDEST_FIRST: [&[&str]; 4] = [
    &["public", "publish", "PUBLIC", "PUBLIC_TO_EVERYONE"],
    &["unlisted", "LOGGED_IN"],
    &["FOLLOWER_OF_CREATOR", "MUTUAL_FOLLOW_FRIENDS", "CONNECTIONS", "private", "followers"],
    &["direct", "SELF_ONLY", "pending", "future", "draft", "author", "nobody"],
];

/// A difference between the audience that was asked for and the one that a post has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Difference<'a> {
    /// The setting that names the audience, or the field of the post.
    pub field: &'a str,
    /// The audience that was asked for, in the network's word.
    pub asked: &'a str,
    /// The audience that the post has, in the network's word.
    pub given: &'a str,
    /// Why that is so, as one sentence.
    pub cause: &'a str,
    /// The remedy, as one sentence.
    pub remedy: &'a str,
}

impl Difference<'_> {
    /// Returns the warning about it; `None` if there is no difference, or the network does not say who sees the post.
    pub fn warning(self) -> Option<Warning> {
        let Self { field, asked, given, cause, remedy } = self;
        if given.is_empty() || asked == given {
            return None;
        }
        let than = match (width(asked), width(given)) {
            (Some(asked), Some(given)) if asked < given => "fewer people see it than asked for",
            (Some(asked), Some(given)) if asked > given => "more people see it than asked for",
            _ => "others see it than asked for",
        };
        let message = format!(
            "The post is published, but {than}: its audience is {given}, not {asked}. {cause} {remedy}"
        );
        let warning = Warning::new(WarningCode::VisibilityDiffers, field, message);
        Some(warning.with("asked", asked).with("given", given))
    }
}

fn width(audience: &str) -> Option<usize> {
    WIDEST_FIRST.iter().position(|same| same.contains(&audience))
}

#[cfg(test)]
mod tests {
    use super::Difference;

    fn told(asked: &str, given: &str) -> Option<String> {
        let difference =
            Difference { field: "settings.visibility", asked, given, cause: "Why.", remedy: "Do." };
        difference.warning().map(|warning| warning.message)
    }

    #[test]
    fn a_difference_says_who_sees_the_post() {
        assert_eq!(told("public", "public"), None);
        assert_eq!(told("public", ""), None, "a network that says nothing");
        let fewer = told("public", "private").unwrap();
        assert!(fewer.contains("fewer people see it") && fewer.ends_with("Why. Do."), "{fewer}");
        assert!(told("private", "public").unwrap().contains("more people see it"));
        assert!(told("public", "a new word").unwrap().contains("others see it"));
    }
}
