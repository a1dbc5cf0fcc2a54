//! A text model: it fills the requested schema with sentences from the task.

use serde_json::{Map, Value, json};

use super::{
    directives::{self, PromptDirectives},
    error,
};
use crate::reply::{HandlerResult, Reply};

/// Facts that the model invents: a price, a date, a phone number, a link and a handle.
const INVENTED: &str = "Only 19.99 EUR until 31 March 2031! Call +49 30 5550199, see invented-offers.com and ask @inventedbar.";

/// `POST /v1/chat/completions`.
pub(super) fn answer(body: &Value, words: &PromptDirectives) -> HandlerResult {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    if body["model"].as_str().is_none_or(str::is_empty) || messages.is_empty() {
        return Err(error(400, "model and messages are required."));
    }
    if words.refuse {
        return Ok(completion(
            body,
            &json!({"role": "assistant", "content": null, "refusal": "I cannot help with that."}),
        ));
    }
    let is_rewrite = messages.iter().any(|message| message["role"] == "assistant");
    let task = messages.iter().find(|message| message["role"] == "user");
    let task = task.and_then(|message| message["content"].as_str()).unwrap_or_default();
    let invents = words.invent_always || (words.invent && !is_rewrite);
    let content = if words.bad_json {
        "{\"this is not".to_owned()
    } else {
        let schema = &body["response_format"]["json_schema"]["schema"];
        let (texts, blank) = (words.texts, words.blank);
        let mut writer = Writer { sentence: sentence(task), invents, texts, blank, nth: 0 };
        writer.value(schema, 400).to_string()
    };
    Ok(completion(body, &json!({"role": "assistant", "content": content, "refusal": null})))
}

fn completion(body: &Value, message: &Value) -> Reply {
    Reply::ok(&json!({
        "id": "chatcmpl-simulated", "object": "chat.completion", "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 100, "total_tokens": 200},
    }))
}

/// Returns the first paragraph of a task, without directives.
fn sentence(task: &str) -> String {
    let plain = directives::without(task);
    // Marks around somebody's words are not repeated.
    let lines = plain.lines().map(str::trim).filter(|line| !["<<<", ">>>"].contains(line));
    let lines = lines.skip_while(|line| line.is_empty());
    let lines = lines.take_while(|line| !line.is_empty());
    let words: Vec<_> = lines.flat_map(str::split_whitespace).collect();
    if words.is_empty() { "Hello".to_owned() } else { words.join(" ") }
}

struct Writer {
    sentence: String,
    invents: bool,
    texts: Option<u64>,
    blank: bool,
    nth: usize,
}

impl Writer {
    /// Returns a value for a schema. All texts are different, and the first one contains the invented facts.
    fn value(&mut self, schema: &Value, longest: usize) -> Value {
        match schema["type"].as_str().unwrap_or("string") {
            "object" => {
                let properties = schema["properties"].as_object().cloned().unwrap_or_default();
                let filled = properties
                    .iter()
                    .map(|(name, schema)| (name.clone(), self.value(schema, longest)));
                Value::Object(filled.collect::<Map<_, _>>())
            }
            "array" => {
                let count = self.texts.or(schema["minItems"].as_u64()).unwrap_or(1);
                (0..count).map(|_| self.value(&schema["items"], longest)).collect()
            }
            "integer" | "number" => 1.into(),
            "boolean" => true.into(),
            _ => {
                let most = schema["maxLength"].as_u64().and_then(|it| usize::try_from(it).ok());
                self.text(most.unwrap_or(longest)).into()
            }
        }
    }

    fn text(&mut self, most: usize) -> String {
        const OPENINGS: [&str; 5] =
            ["Here it is:", "Have you heard?", "Good news:", "We are happy:", "Look at this:"];
        if self.blank {
            return String::new();
        }
        let opening = OPENINGS[self.nth % OPENINGS.len()];
        let more = "Really! ".repeat(self.nth / OPENINGS.len());
        self.nth += 1;
        let text = format!("{more}{opening} {}", self.sentence);
        let invented =
            if self.invents && self.nth == 1 { format!("{INVENTED} ") } else { String::new() };
        let text = format!("{invented}{text}");
        // Cut between words, so that no claim is split.
        let mut short = String::new();
        for word in text.split(' ') {
            if short.chars().count() + word.chars().count() + 1 > most {
                break;
            }
            if !short.is_empty() {
                short.push(' ');
            }
            short.push_str(word);
        }
        short
    }
}
