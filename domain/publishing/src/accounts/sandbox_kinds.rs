//! The kinds of accounts that a simulated network makes.

use fanfare_core::error::{Code, Error, Result};
use fanfare_platforms::PlatformId;
use uuid::Uuid;

/// The simulated networks with several kinds of accounts, the usual one first.
const KINDS: [(&str, &[&str]); 2] =
    [("linkedin", &["member", "page"]), ("instagram", &["facebook"])];

/// The form of the names of pages on the simulated LinkedIn.
const PAGE_PREFIX: &str = "company/";

/// Returns true if the account is to be a page.
///
/// # Errors
/// [`Code::InvalidField`] for a kind that the network does not have.
pub(super) fn is_page(platform: PlatformId, kind: Option<&str>) -> Result<bool> {
    let Some(kind) = kind else { return Ok(false) };
    let known = KINDS.iter().find(|(name, _)| *name == platform.as_str());
    let kinds = known.map_or(&[][..], |(_, kinds)| *kinds);
    if kinds.contains(&kind) {
        return Ok(kind == "page");
    }
    let (message, remedy) = match (platform.as_str(), kind) {
        ("instagram", "login") => (
            "There are no simulated accounts of Instagram Login, because this service connects \
             Instagram accounts through the Facebook page that they are linked to alone."
                .to_owned(),
            "Send `facebook`, or leave kind out.".to_owned(),
        ),
        _ if kinds.is_empty() => {
            (format!("{platform} has one kind of accounts."), "Leave kind out.".to_owned())
        }
        _ => (
            format!("kind is {kind:?}; {platform} has {}.", kinds.join(" and ")),
            format!("Use one of {}.", kinds.join(", ")),
        ),
    };
    Err(Error::field(Code::InvalidField, "kind", message, remedy))
}

/// Returns the name under which the simulator makes a page.
pub(super) fn page_name(username: Option<&str>) -> String {
    match username {
        Some(name) if name.starts_with(PAGE_PREFIX) => name.to_owned(),
        Some(name) => format!("{PAGE_PREFIX}{name}"),
        None => format!("{PAGE_PREFIX}page-{}", &Uuid::now_v7().simple().to_string()[20..]),
    }
}
