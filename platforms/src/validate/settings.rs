//! Rules of the settings.

use super::{Fix, Violation, Violations, excerpt, media, value};
use crate::{Draft, Setting, Shape, Spec, settings};

/// The setting in which callers may give the type of the post as well.
pub const POST_TYPE: &str = settings::POST_TYPE.name;

pub fn violations(spec: &Spec, draft: &Draft) -> Violations {
    let known: Vec<_> = settings::accepted(spec.settings).copied().collect();
    let mut found = value::object_violations(&known, &draft.settings, "settings");
    let alt_texts = media::alt_texts(spec, draft, &found);
    found.append(alt_texts);
    for missing in found.iter_mut().filter(|one| one.code == "setting_required") {
        missing.fix.extend(title(&known, draft, &missing.field));
    }
    found.extend(two_types(draft));
    found
}

/// Suggests the first line of the caption for a missing title, if it is a complete one.
fn title(known: &[Setting], draft: &Draft, field: &str) -> Option<Fix> {
    let mut steps = field.strip_prefix("settings.")?.split('.');
    let first = steps.next()?;
    let mut setting = known.iter().find(|one| one.name == first)?;
    for step in steps {
        let Shape::Object(fields) = setting.shape else { return None };
        setting = fields.iter().find(|one| one.name == step)?;
    }
    let Shape::Text { min, max } = setting.shape else { return None };
    let line = draft.caption.lines().next()?.trim();
    let fits = setting.name == "title" && (min.max(1)..=max).contains(&line.chars().count());
    fits.then(|| Fix::add(field, line))
}

/// Checks that the two places for the post type do not contradict each other.
fn two_types(draft: &Draft) -> Option<Violation> {
    let among = draft.settings.get(POST_TYPE)?.as_str()?;
    (among != draft.post_type).then(|| {
        let (here, there) = (excerpt(among), excerpt(&draft.post_type));
        let message = format!("The post is to be {here:?} here and {there:?} in post_type.");
        Violation::new("settings.post_type", "setting_invalid", message, "Leave one of them out.")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{PlatformId, find, tests::test_server, validate::validate};

    #[test]
    fn a_missing_title_is_the_first_line_if_that_fits() {
        let fixes = |caption: &str| {
            let draft = test_server::draft(caption, json!({"event": {}}));
            let found = validate(find(PlatformId::GoogleBusiness), &Default::default(), &draft);
            let title = found.into_iter().find(|one| one.field == "settings.event.title").unwrap();
            assert_eq!(title.code, "setting_required");
            title.fix
        };
        assert_eq!(fixes("Fair\nCome"), [Fix::add("settings.event.title", "Fair")]);
        assert!(fixes(&"x".repeat(200)).is_empty());
    }
}
