//! Signed addresses of files that people sent to an inbox. They expire.

use fanfare_entities::Millis;

use crate::Domain;

/// The first part of signed addresses.
pub(super) const SIGNED: &str = "signed";

/// The prefix of every copy in the store.
pub const ROOT: &str = "inbox";

/// The time for which an address is valid, in ms.
const VALID_FOR: Millis = 3_600_000;

/// The purpose that signatures are bound to.
const PURPOSE: &str = "address of an inbox file";

/// Returns the address of a copy, valid for an hour from now.
pub fn address(cx: &Domain, path: &str) -> Option<String> {
    let name = path.strip_prefix(ROOT)?.strip_prefix('/')?;
    let until = cx.clock.now() + VALID_FOR;
    let signature = cx.vault.sign(PURPOSE, &format!("{until} {name}")).ok()?;
    Some(format!("{}/{SIGNED}/{until}/{signature}/{name}", cx.settings.media_base_url))
}

/// Returns the path of a copy, and how long its address is still valid, in ms, if `name` is the rest of a valid address
/// after [`SIGNED`].
pub(super) fn verified_path(cx: &Domain, name: &str) -> Option<(String, Millis)> {
    let (until, rest) = name.split_once('/')?;
    let (signature, name) = rest.split_once('/')?;
    let left = until.parse::<Millis>().ok()? - cx.clock.now();
    let is_ours = cx.vault.is_signed(PURPOSE, &format!("{until} {name}"), signature).ok()?;
    (is_ours && left > 0).then(|| (format!("{ROOT}/{name}"), left))
}
