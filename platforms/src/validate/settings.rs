//! Rules of the settings.

use super::{Violation, Violations, excerpt, media, value};
use crate::{Draft, Spec, settings};

/// The place at which callers may write the type of the post as well.
pub const POST_TYPE: &str = settings::POST_TYPE.name;

pub fn violations(spec: &Spec, draft: &Draft) -> Violations {
    let known: Vec<_> = settings::known(spec.settings).copied().collect();
    let mut found = value::object(&known, &draft.settings, "settings");
    let alt_texts = media::alt_texts(spec, draft, &found);
    found.append(alt_texts);
    found.extend(two_types(draft));
    found
}

/// The type of the post may stand in two places, but not two types.
fn two_types(draft: &Draft) -> Option<Violation> {
    let among = draft.settings.get(POST_TYPE)?.as_str()?;
    (among != draft.post_type).then(|| {
        let (here, there) = (excerpt(among), excerpt(&draft.post_type));
        let message = format!("The post is to be {here:?} here and {there:?} in post_type.");
        Violation::new("settings.post_type", "setting_invalid", message, "Leave one of them out.")
    })
}
