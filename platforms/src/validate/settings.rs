//! Rules of the settings.

use super::{Violation, media, value};
use crate::{Draft, Spec, settings};

pub fn violations(spec: &Spec, draft: &Draft) -> Vec<Violation> {
    let known: Vec<_> = settings::known(spec.settings).copied().collect();
    let mut found = value::object(&known, &draft.settings, "settings");
    found.extend(media::alt_texts(spec, draft, &found));
    found
}
