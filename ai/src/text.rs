//! Text models, behind an OpenAI-compatible endpoint.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    Failure, FailureKind, endpoint,
    endpoint::Endpoint,
    failure::{Blame, Interface, blame},
};

/// The largest reply, in bytes.
const LARGEST: usize = 1 << 20;

/// A text model.
#[derive(Debug, Clone)]
pub struct TextModel {
    /// The address.
    pub endpoint: Endpoint,
    /// The provider, as replies name it.
    pub provider: String,
    /// The id there.
    pub model: String,
}

/// The role of the author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    /// The instructions.
    System,
    /// The task.
    User,
    /// An earlier reply of the model.
    Assistant,
}

/// A message of a conversation.
#[derive(Clone)]
pub struct Message {
    /// The role of its author.
    pub role: MessageRole,
    /// The text.
    pub text: String,
}

impl TextModel {
    /// Requests JSON that matches a schema, within a time.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn complete(
        &self,
        messages: &[Message],
        schema: &Value,
        within: Duration,
    ) -> Result<Value, Failure> {
        let begun = Instant::now();
        let form = json!({"type": "json_schema",
            "json_schema": {"name": "answer", "strict": true, "schema": schema}});
        let outcome = self.ask(messages_json(messages), &form, within).await;
        match outcome {
            // Some servers do not support schemas: it is then put in the prompt.
            Err(failure)
                if failure.status == Some(400) && failure.kind == FailureKind::Rejected =>
            {
                let mut messages = messages_json(messages);
                let asked = format!("Answer with JSON of this schema alone: {schema}");
                messages.push(json!({"role": "system", "content": asked}));
                let left = within.saturating_sub(begun.elapsed());
                self.ask(messages, &json!({"type": "json_object"}), left).await
            }
            outcome => outcome,
        }
    }

    async fn ask(
        &self,
        messages: Vec<Value>,
        form: &Value,
        within: Duration,
    ) -> Result<Value, Failure> {
        let body = json!({"model": self.model, "messages": messages, "response_format": form});
        let request =
            self.endpoint.with_bearer_token(self.endpoint.post("chat/completions", &body)?);
        let answer = endpoint::json(Interface::Chat, request, (within, LARGEST)).await?;
        read(&answer)
    }
}

fn messages_json(messages: &[Message]) -> Vec<Value> {
    let role = |by| match by {
        MessageRole::System => "system",
        MessageRole::User => "user",
        MessageRole::Assistant => "assistant",
    };
    messages.iter().map(|it| json!({"role": role(it.role), "content": it.text})).collect()
}

/// Reads the JSON that a model wrote.
fn read(answer: &Value) -> Result<Value, Failure> {
    // OpenRouter answers with 200 where a model failed that had begun to write.
    let failed = answer["error"]["code"].as_u64().and_then(|status| u16::try_from(status).ok());
    if let Some(status) = failed.filter(|_| answer["choices"].is_null()) {
        return Err(Failure::of_answer(Interface::Chat, (status, answer), None));
    }
    if blame(Interface::Chat, 200, answer) == Some(Blame::Content) {
        return Err(Failure::refused());
    }
    let choice = &answer["choices"][0];
    let content = choice["message"]["content"].as_str().unwrap_or_default().trim();
    // Models without support for schemas often fence their JSON.
    let content = content.strip_prefix("```json").or_else(|| content.strip_prefix("```"));
    let whole = choice["message"]["content"].as_str().unwrap_or_default();
    let content = content.and_then(|text| text.trim_end().strip_suffix("```")).unwrap_or(whole);
    serde_json::from_str(content.trim()).map_err(|_| Failure::bad_answer())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_and_a_refusal_is_one() {
        let said =
            |message: Value| json!({"choices": [{"message": message, "finish_reason": "stop"}]});
        assert_eq!(read(&said(json!({"content": "{\"a\": 1}"}))).unwrap(), json!({"a": 1}));
        let fenced = "```json\n{\"a\": 1}\n```";
        assert_eq!(read(&said(json!({"content": fenced}))).unwrap(), json!({"a": 1}));
        let refused = read(&said(json!({"content": null, "refusal": "No."}))).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Refused);
        for content in [json!("{\"a\": "), json!(""), json!(null)] {
            let bad = read(&said(json!({ "content": content }))).unwrap_err();
            assert_eq!(bad.kind, FailureKind::BadAnswer);
        }
        let filtered =
            json!({"choices": [{"message": {"content": "{}"}, "finish_reason": "content_filter"}]});
        assert_eq!(read(&filtered).unwrap_err().kind, FailureKind::Refused);
        let failed = |code: u16| json!({"error": {"code": code, "message": "No."}});
        assert_eq!(read(&failed(502)).unwrap_err().kind, FailureKind::Failed);
        assert_eq!(read(&failed(402)).unwrap_err().kind, FailureKind::Denied);
    }
}
