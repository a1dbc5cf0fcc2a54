//! Image models.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::{
    Failure, endpoint,
    endpoint::Endpoint,
    failure::{Blame, Interface, blame},
};

/// The largest reply, in bytes: a 4K image in base64.
const LARGEST: usize = 64 << 20;

/// The parameters of an image.
#[derive(Clone)]
pub struct ImageParameters<'a> {
    /// The model.
    pub model: &'a str,
    /// The prompt.
    pub prompt: &'a str,
    /// `1K`, `2K` or `4K`.
    pub resolution: &'a str,
    /// `low` or `medium`, where there is a choice.
    pub quality: Option<&'a str>,
    /// The aspect ratio.
    pub aspect_ratio: Option<&'a str>,
    /// Source images: media type and bytes.
    pub sources: &'a [(String, Bytes)],
}

/// Generates one image with Google.
///
/// # Errors
/// [`Failure`].
pub async fn google(
    endpoint: &Endpoint,
    drawing: &ImageParameters<'_>,
    within: Duration,
) -> Result<Bytes, Failure> {
    let mut parts = vec![json!({"text": drawing.prompt})];
    parts.extend(drawing.sources.iter().map(
        |(mime, bytes)| json!({"inlineData": {"mimeType": mime, "data": STANDARD.encode(bytes)}}),
    ));
    let mut config = json!({"imageSize": drawing.resolution});
    if let Some(ratio) = drawing.aspect_ratio {
        config["aspectRatio"] = ratio.into();
    }
    let body = json!({"contents": [{"parts": parts}],
        "generationConfig": {"responseModalities": ["IMAGE"], "imageConfig": config}});
    let path = format!("v1beta/models/{}:generateContent", drawing.model);
    let request = endpoint.with_google_key(endpoint.post(&path, &body)?);
    drawn_by_google(&endpoint::json(Interface::Google, request, (within, LARGEST)).await?)
}

fn drawn_by_google(answer: &Value) -> Result<Bytes, Failure> {
    if blame(Interface::Google, 200, answer) == Some(Blame::Content) {
        return Err(Failure::refused());
    }
    let candidate = &answer["candidates"][0];
    let parts = candidate["content"]["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let data = parts.iter().find_map(|part| part["inlineData"]["data"].as_str());
    decoded(data)
}

/// Generates images with xAI.
///
/// # Errors
/// [`Failure`].
pub async fn xai(
    endpoint: &Endpoint,
    drawing: &ImageParameters<'_>,
    count: usize,
    within: Duration,
) -> Result<Vec<Bytes>, Failure> {
    let mut body = json!({"model": drawing.model, "prompt": drawing.prompt, "n": count,
        "resolution": drawing.resolution.to_lowercase(), "response_format": "b64_json"});
    if let Some(quality) = drawing.quality {
        body["quality"] = quality.into();
    }
    if let Some(ratio) = drawing.aspect_ratio {
        body["aspect_ratio"] = ratio.into();
    }
    let mut path = "images/generations";
    if !drawing.sources.is_empty() {
        let source = |(mime, bytes): &(String, Bytes)| json!({"url": format!("data:{mime};base64,{}", STANDARD.encode(bytes))});
        body["images"] = drawing.sources.iter().map(source).collect();
        path = "images/edits";
    }
    let request = endpoint.with_bearer_token(endpoint.post(path, &body)?);
    let answer = endpoint::json(Interface::Xai, request, (within, LARGEST)).await?;
    let drawn = answer["data"].as_array().ok_or_else(Failure::bad_answer)?;
    drawn.iter().map(|image| decoded(image["b64_json"].as_str())).collect()
}

fn decoded(data: Option<&str>) -> Result<Bytes, Failure> {
    let bytes = data.and_then(|data| STANDARD.decode(data).ok());
    bytes.filter(|bytes| !bytes.is_empty()).map(Bytes::from).ok_or_else(Failure::bad_answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureKind;

    #[test]
    fn an_image_is_read_and_a_blocked_one_is_refused() {
        let drawn = json!({"candidates": [{"content": {"parts": [{"text": "Here"}, {"inlineData": {"data": "AAEC"}}]}}]});
        assert_eq!(drawn_by_google(&drawn).unwrap(), Bytes::from_static(&[0, 1, 2]));
        for blocked in [
            json!({"promptFeedback": {"blockReason": "SAFETY"}}),
            json!({"candidates": [{"finishReason": "IMAGE_SAFETY"}]}),
            json!({"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}),
        ] {
            assert_eq!(drawn_by_google(&blocked).unwrap_err().kind, FailureKind::Refused);
        }
        assert_eq!(drawn_by_google(&json!({})).unwrap_err().kind, FailureKind::BadAnswer);
    }
}
