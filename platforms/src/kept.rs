//! Warns when a network keeps another text than was sent.

use crate::{
    Spec, Warning, WarningCode,
    text::{Alteration, Loss, loss},
};

/// Returns the warning about a text that the network shows otherwise than it was sent, beyond what is known and harmless.
/// `list` are the changes that it is known to make.
pub fn warning(
    spec: &Spec,
    field: &str,
    list: &[Alteration],
    (sent, shown): (&str, &str),
) -> Option<Warning> {
    // Some answers leave the text out.
    if shown.trim().is_empty() {
        return None;
    }
    let label = spec.label;
    let (code, message) = match loss(list, sent, shown)? {
        Loss::Cut(after) => (
            WarningCode::TextCut,
            format!("{label} shows only the first {after} characters of the text."),
        ),
        Loss::Reworded => (
            WarningCode::TextChanged,
            format!("{label} shows another text than was sent: compare them there."),
        ),
    };
    Some(Warning::new(code, field, message).with("platform", spec.id.as_str()))
}

#[cfg(test)]
mod tests {
    use super::warning;
    use crate::{PlatformId, WarningCode, find};

    #[test]
    fn only_what_readers_miss_is_a_warning() {
        let spec = find(PlatformId::Lemmy).spec();
        let code = |sent: &str, shown: &str| {
            warning(spec, "caption", spec.alterations.text, (sent, shown)).map(|one| one.code)
        };
        let sent = "A text of some words & more: https://a.example/?utm_source=x";
        assert_eq!(code(sent, "A text of some words &amp; more: https://a.example"), None);
        assert_eq!(code(sent, ""), None);
        assert_eq!(code(sent, "A text of some words"), Some(WarningCode::TextCut));
        assert_eq!(code(sent, "A text of *removed* & more"), Some(WarningCode::TextChanged));
    }
}
