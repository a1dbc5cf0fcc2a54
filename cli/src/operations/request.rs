//! Builds requests from commands.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use clap::ArgMatches;
use reqwest::Method;
use serde_json::{Map, Value};

use super::{
    command::values_of,
    document::{Operation, ParameterKind, ParameterLocation},
    shell::flag,
};

/// A request to be sent.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// HTTP method.
    pub method: Method,
    /// Path and query.
    pub path: String,
    /// The body, if there is one.
    pub body: Option<Value>,
    /// More headers.
    pub headers: Vec<(String, String)>,
}

impl Request {
    /// Returns a request that reads.
    pub const fn get(path: String) -> Self {
        Self { method: Method::GET, path, body: None, headers: Vec::new() }
    }
}

/// The header that names the version to change.
const IF_MATCH: &str = "If-Match";

/// The header that makes a change safe to repeat.
pub const KEY: &str = "Idempotency-Key";

/// Returns the headers that a command asks for.
fn headers(matches: &ArgMatches) -> Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    for header in values_of(matches, "header") {
        let parts = header.split_once(':');
        let (name, value) = parts.with_context(|| format!("{header}: write 'NAME: VALUE'"))?;
        headers.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    let key = values_of(matches, "idempotency-key").last();
    headers.extend(key.map(|key| (KEY.to_owned(), key.clone())));
    let version = values_of(matches, "if-match").last();
    headers.extend(version.map(|version| (IF_MATCH.to_owned(), version.clone())));
    Ok(headers)
}

/// Returns the request of an operation.
///
/// # Errors
/// A value of the wrong type, or a file that cannot be read.
pub fn of_operation(operation: &Operation, matches: &ArgMatches) -> Result<Request> {
    let (mut path, mut query) = (operation.path.clone(), Vec::new());
    let mut body = match input_body(matches)? {
        Some(Value::Object(body)) => body,
        Some(_) => bail!("the body of --input is no JSON object"),
        None => Map::new(),
    };
    for parameter in &operation.parameters {
        let values: Vec<_> = values_of(matches, &parameter.name).collect();
        let Some(last) = values.last() else { continue };
        match parameter.location {
            ParameterLocation::Path => {
                path = path.replace(&format!("{{{}}}", parameter.name), &encoded(last))
            }
            ParameterLocation::Query => query.push(format!("{}={}", parameter.name, encoded(last))),
            ParameterLocation::Body if parameter.kind == ParameterKind::Texts => {
                body.insert(parameter.name.clone(), values.into_iter().cloned().collect());
            }
            ParameterLocation::Body => {
                let value = value(parameter.kind, last).with_context(|| flag(&parameter.name))?;
                body.insert(parameter.name.clone(), value);
            }
        }
    }
    for field in values_of(matches, "clear") {
        body.insert(field.replace('-', "_"), Value::Null);
    }
    if !query.is_empty() {
        path = format!("{path}?{}", query.join("&"));
    }
    let has_body =
        operation.parameters.iter().any(|parameter| parameter.location == ParameterLocation::Body);
    let body = (has_body || !body.is_empty()).then_some(Value::Object(body));
    let headers = headers(matches)?;
    Ok(Request { method: operation.method.clone(), path, body, headers })
}

/// Returns the request of `fanfare api METHOD PATH`.
///
/// # Errors
/// A field without a value, or a file that cannot be read.
pub fn of_path(matches: &ArgMatches) -> Result<Request> {
    let text = |name: &str| values_of(matches, name).next().cloned().unwrap_or_default();
    let method = text("method").to_uppercase().parse().context("no HTTP method")?;
    let path = text("path");
    let path = if path.starts_with('/') { path } else { format!("/api/v1/{path}") };
    let mut body = match input_body(matches)? {
        Some(Value::Object(body)) => body,
        Some(_) => bail!("the body of --input is no JSON object"),
        None => Map::new(),
    };
    for field in values_of(matches, "field") {
        let (name, text) =
            field.split_once('=').with_context(|| format!("{field}: write NAME=VALUE"))?;
        let text = file_or_text(text)?;
        let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        body.insert(name.to_owned(), value);
    }
    let body = (!body.is_empty()).then_some(Value::Object(body));
    Ok(Request { method, path, body, headers: headers(matches)? })
}

fn input_body(matches: &ArgMatches) -> Result<Option<Value>> {
    let Some(place) = values_of(matches, "whole-body").next() else { return Ok(None) };
    let text = match place.as_str() {
        "-" => std::io::read_to_string(std::io::stdin()).context("standard input")?,
        file => std::fs::read_to_string(file).with_context(|| file.to_owned())?,
    };
    Ok(Some(serde_json::from_str(&text).context("the body is no JSON")?))
}

fn value(kind: ParameterKind, text: &str) -> Result<Value> {
    Ok(match kind {
        ParameterKind::Integer => text.parse::<i64>().context("no whole number")?.into(),
        ParameterKind::Number => text.parse::<f64>().context("no number")?.into(),
        ParameterKind::Boolean => text.parse::<bool>().context("neither true nor false")?.into(),
        ParameterKind::Text | ParameterKind::Texts => text.into(),
        ParameterKind::Json => serde_json::from_str(&file_or_text(text)?).context("no JSON")?,
    })
}

fn file_or_text(text: &str) -> Result<String> {
    match text.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(Path::new(file)).with_context(|| file.to_owned()),
        None => Ok(text.to_owned()),
    }
}

/// Returns a text as a part of an address.
pub fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::{command, document::operations},
        *,
    };

    fn made(line: &str) -> Result<Request> {
        let all = operations();
        let words: Vec<_> = line.split(' ').collect();
        let matches = command::chapter(words[0], all).try_get_matches_from(&words)?;
        let (verb, matches) = matches.subcommand().unwrap();
        let operation = all.iter().find(|one| one.tag == words[0] && one.verb == verb).unwrap();
        of_operation(operation, matches)
    }

    #[test]
    fn flags_make_the_body_and_positions_the_path() {
        let create = "posts create --account-id 7 --caption -x --media-urls a --media-urls b --dry-run --clear timezone";
        let body = json!({
            "account_id": 7, "caption": "-x", "media_urls": ["a", "b"], "dry_run": true, "timezone": null,
        });
        let made_request = made(create).unwrap();
        assert_eq!((made_request.path.as_str(), made_request.body), ("/api/v1/posts", Some(body)));
        assert_eq!(made("posts get a/b").unwrap().path, "/api/v1/posts/a%2Fb");
        let listed = made("posts list --limit 5 --status failed").unwrap();
        assert_eq!(
            (listed.path.as_str(), listed.body),
            ("/api/v1/posts?limit=5&status=failed", None)
        );
    }

    #[test]
    fn an_id_may_have_its_name_and_words_stand_between_commas() {
        assert_eq!(made("posts get --id 7").unwrap().path, "/api/v1/posts/7");
        assert!(made("posts get 7 --id 8").is_err());
        assert!(made("posts get").is_err());
        let captions = made("ai generate-captions --platforms x,bluesky --brief b").unwrap();
        assert_eq!(captions.body.unwrap()["platforms"], json!(["x", "bluesky"]));
    }

    #[test]
    fn every_change_takes_a_key_and_no_reading_does() {
        let created = made("posts create --account-id 7 --idempotency-key k1").unwrap();
        assert_eq!(created.headers, [(KEY.to_owned(), "k1".to_owned())]);
        for operation in operations() {
            let command = command::operation_command(operation);
            let takes = command.get_arguments().any(|one| one.get_id() == "idempotency-key");
            assert_eq!(takes, operation.writes(), "{}", operation.id);
        }
        let line = ["api", "POST", "posts", "-H", "X-Request-Id: a:b", "--idempotency-key", "k2"];
        let asked = of_path(&command::api().try_get_matches_from(line).unwrap()).unwrap();
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(asked.headers, [header("X-Request-Id", "a:b"), header(KEY, "k2")]);
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        assert!(made("posts create --caption x").unwrap_err().to_string().contains("--account-id"));
        let wrong = made("posts create --account-id 7 --settings {").unwrap_err();
        assert!(format!("{wrong:#}").contains("--settings"), "{wrong:#}");
        assert!(made("posts create --acount 7").is_err());
    }
}
