//! Questions about the service, answered only from its documentation: no tenant's data goes into an answer.

mod index;
mod model_answer;

use fanfare_ai::Ai;
use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use index::{Index, Passage};

/// The most passages in an answer.
const MAX_PASSAGES: u32 = 4;

/// A question.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SupportQuestion {
    /// The question, 1 to 2,000 characters.
    #[schemars(length(max = 2_000), extend("x-lines" = true))]
    pub message: String,
    /// The conversation before, oldest first, at most ten entries.
    #[serde(default)]
    #[schemars(length(max = 10))]
    pub history: Vec<Turn>,
}

/// An earlier message of the conversation.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SupportTurn")]
pub struct Turn {
    /// The speaker.
    pub role: Speaker,
    /// The text.
    #[schemars(length(max = 4_000), extend("x-lines" = true))]
    pub content: String,
}

/// A speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SupportSpeaker")]
pub enum Speaker {
    /// The user.
    User,
    /// The service.
    Assistant,
}

/// An answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SupportAnswer {
    /// The passages of the documentation that fit the question, or an answer that a text provider wrote from them.
    answer: String,
    /// The places of these passages.
    sources: Vec<Source>,
    /// The text provider that wrote the answer; null if the passages are the answer.
    provider: Option<String>,
}

/// The place of a passage.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Source {
    title: String,
    #[schemars(extend("format" = "uri"))]
    url: String,
}

/// Answers a question from the documentation.
///
/// # Errors
/// [`Code::InvalidField`] for an empty question.
pub async fn answer(
    act: &Act,
    index: &Index,
    question: SupportQuestion,
) -> Result<Reply<SupportAnswer>> {
    if question.message.trim().is_empty() {
        let remedy = "Ask something about the service.";
        return Err(Error::field(Code::InvalidField, "message", "message is empty.", remedy));
    }
    // The previous question says what "it" is.
    let asked = question.history.iter().filter(|turn| turn.role == Speaker::User);
    let before = asked.map(|turn| turn.content.as_str()).next_back().unwrap_or_default();
    let mut found = index.search(&question.message, MAX_PASSAGES).await?;
    if found.is_empty() {
        found = index.search(before, MAX_PASSAGES).await?;
    }
    let base_url = &act.cx.settings.base_url;
    let (answer, provider) = if found.is_empty() {
        let nothing = format!(
            "The documentation has no passage on this. Read {base_url}/docs, or ask with other words."
        );
        (nothing, None)
    } else {
        match model_answer::write_answer(&act.cx, &found, &question).await {
            Some((answer, provider)) => (answer, Some(provider)),
            None => (passages(&fanfare_insight::settings(&act.cx).ai, &found), None),
        }
    };
    let sources = found.into_iter().map(|one| Source { title: one.title, url: one.url });
    Ok(Reply::ok(&SupportAnswer { answer, sources: sources.collect(), provider }).unchanged())
}

/// Returns the passages as an answer.
fn passages(ai: &Ai, found: &[Passage]) -> String {
    let texts = found.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("\n\n");
    match model_answer::has_model(ai) {
        true => texts,
        false => format!(
            "No model is configured. These passages of the documentation fit the question:\n\n{texts}"
        ),
    }
}
