//! Rules of the raw metadata: the segments of a thread, and nothing else.

use serde_json::Value;

use super::{Fix, Violation, Violations, excerpt, fix, nearest};
use crate::{Draft, Spec, ThreadRules, text};

pub fn violations(spec: &Spec, draft: &Draft) -> Violations {
    let mut found = Violations::default();
    let known = spec.thread.map(|rules| rules.metadata_key);
    for name in draft.metadata.keys().filter(|name| known != Some(name.as_str())) {
        found.push_with(|| {
            let field = format!("metadata.{}", excerpt(name));
            let meant = fix::closest_name(name, known);
            let fix = meant.map(|known| Fix::rename(&field, known));
            Violation::new(
                field,
                "unknown_field",
                format!("{} takes no {:?} in metadata.", spec.id, excerpt(name)),
                nearest(name, known.into_iter()),
            )
            .with_fix(fix)
        });
    }
    let mut of_thread = Violations::default();
    if let Some(rules) = &spec.thread {
        thread(spec, rules, draft, &mut of_thread);
    }
    of_thread.append(found);
    of_thread
}

fn thread(spec: &Spec, rules: &ThreadRules, draft: &Draft, found: &mut Violations) {
    let field = format!("metadata.{}", rules.metadata_key);
    let given = draft.metadata.get(rules.metadata_key);
    if draft.post_type != rules.post_type {
        found.extend(given.map(|_| {
            let message = format!("Segments need the post type {:?}.", rules.post_type);
            let remedy = format!("Set post_type to {:?}, or remove the segments.", rules.post_type);
            Violation::new(field, "setting_invalid", message, remedy)
        }));
        return;
    }
    match given {
        Some(Value::Array(segments)) if !segments.is_empty() => {
            for (index, item) in segments.iter().enumerate() {
                found.extend(segment(spec, rules, item, format!("{field}[{index}]")));
            }
        }
        None | Some(Value::Array(_)) => found.push(Violation::new(
            field,
            "setting_required",
            "A thread needs at least one segment.",
            format!("Put the texts of the segments into metadata.{}.", rules.metadata_key),
        )),
        Some(_) => {
            let remedy = "Give a list of texts, one per segment.";
            let message = format!("{field} must be a list of texts.");
            found.push(Violation::new(field, "setting_invalid", message, remedy));
        }
    }
}

fn segment(spec: &Spec, rules: &ThreadRules, item: &Value, field: String) -> Vec<Violation> {
    let Some(segment) = item.as_str().filter(|segment| !text::is_blank(segment)) else {
        let message = format!("{field} must be a text that is not empty.");
        let remedy = "Write the segment or remove it.";
        return vec![Violation::new(field, "setting_invalid", message, remedy)];
    };
    let mut found = Vec::new();
    let (unit, limit) = (spec.caption.unit, rules.segment_max);
    let length = (spec.caption.count)(segment);
    if length > limit {
        let message = format!("The segment is {length} {unit}; {} allows {limit}.", spec.id);
        let remedy = format!("Shorten the segment to {limit} {unit}.");
        let violation = Violation::new(field.as_str(), "thread_segment_too_long", message, remedy);
        found.push(violation.with_limit(limit, length).in_unit(unit));
    }
    if !rules.urls_allowed && text::has_web_address(segment) {
        let message = format!("{} takes no web addresses in the segments of a thread.", spec.id);
        let remedy = "Remove the address from the segment.";
        found.push(Violation::new(field, "thread_segment_has_url", message, remedy));
    }
    found
}
