//! Directives in a prompt that the simulated models obey.

use std::time::Duration;

use super::refusals::Refusal;

/// The directives of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PromptDirectives {
    /// The content is refused.
    pub refuse: bool,
    /// The call or the video fails.
    pub fail: bool,
    /// The request for a video is refused.
    pub fail_submit: bool,
    /// The model is retired.
    pub retired: bool,
    /// The response is lost.
    pub drop: bool,
    /// The video's address returns nothing.
    pub lost_result: bool,
    /// The response is delayed.
    pub delay: Option<Duration>,
    /// The response is not JSON.
    pub bad_json: bool,
    /// Facts are invented, but not in a rewrite.
    pub invent: bool,
    /// Facts are invented, in a rewrite too.
    pub invent_always: bool,
    /// The number of texts that are written for each list, in place of those that were asked for.
    pub texts: Option<u64>,
    /// All texts are empty.
    pub blank: bool,
    /// The answer is this refusal.
    pub answer: Option<Refusal>,
    /// The video ends with this code.
    pub end: Option<Refusal>,
}

impl PromptDirectives {
    pub fn of(prompt: &str) -> Self {
        let mut words = Self::default();
        for part in prompt.split("[[").skip(1) {
            let Some((word, _)) = part.split_once("]]") else { continue };
            match word.trim() {
                "refuse" => words.refuse = true,
                "fail" => words.fail = true,
                "fail-submit" => words.fail_submit = true,
                "retired" => words.retired = true,
                "drop" => words.drop = true,
                "lost-result" => words.lost_result = true,
                "bad-json" => words.bad_json = true,
                "invent" => words.invent = true,
                "invent-always" => words.invent_always = true,
                "blank" => words.blank = true,
                other => {
                    let after = |name: &str| other.strip_prefix(name);
                    words.answer = after("answer ").and_then(Refusal::read).or(words.answer);
                    words.end = after("end ").and_then(Refusal::read_end).or(words.end);
                    words.texts = after("texts ").and_then(|it| it.parse().ok()).or(words.texts);
                    let seconds = other.strip_prefix("delay ").and_then(|it| it.strip_suffix('s'));
                    words.delay = seconds
                        .and_then(|it| it.trim().parse().ok())
                        .map(Duration::from_secs)
                        .or(words.delay);
                }
            }
        }
        words
    }
}

/// Returns a text without the directives.
pub(super) fn without(text: &str) -> String {
    let mut rest = text;
    let mut plain = String::with_capacity(text.len());
    while let Some((before, behind)) = rest.split_once("[[") {
        plain.push_str(before);
        rest = behind.split_once("]]").map_or("", |(_, behind)| behind);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_left_out() {
        let words = PromptDirectives::of("A cat [[delay 30s]] and [[refuse]] [[unknown]] [[open");
        assert!(words.refuse && !words.fail);
        assert_eq!(words.delay, Some(Duration::from_secs(30)));
        assert_eq!(without("A [[x]]cat [[y]]"), "A cat ");
        let words = PromptDirectives::of("[[answer 403 - Failed check]] [[end 13 Internal error]]");
        let (answer, end) = (words.answer.unwrap(), words.end.unwrap());
        assert_eq!((answer.status, answer.code, &*answer.message), (403, None, "Failed check"));
        assert_eq!((end.code.as_deref(), &*end.message), (Some("13"), "Internal error"));
    }
}
