//! Validates the blocks of a message.

use serde_json::Value;

use super::access;
use crate::reply::Reply;

const BLOCKS_MAX: usize = 50;
const SECTION_MAX: usize = 3_000;
const HEADER_MAX: usize = 150;
const MARKDOWN_MAX: usize = 12_000;

/// Parses the blocks, which may be JSON or a JSON text.
pub(super) fn read(
    given: Option<Result<Value, crate::params::Malformed>>,
) -> Result<Vec<Value>, Reply> {
    let blocks = match given {
        None => return Ok(Vec::new()),
        Some(Ok(Value::Array(blocks))) => blocks,
        Some(_) => return Err(access::failure("invalid_blocks_format")),
    };
    if blocks.len() > BLOCKS_MAX {
        return Err(invalid(&format!(
            "no more than {BLOCKS_MAX} items allowed [json-pointer:/blocks]"
        )));
    }
    for (index, block) in blocks.iter().enumerate() {
        if let Some(why) = flaw(block) {
            return Err(invalid(&format!("{why} [json-pointer:/blocks/{index}]")));
        }
    }
    Ok(blocks)
}

fn invalid(why: &str) -> Reply {
    access::detailed("invalid_blocks", why)
}

fn flaw(block: &Value) -> Option<String> {
    let text = |path: &str| block.pointer(path).and_then(Value::as_str);
    let length = |path: &str| text(path).map_or(0, |text| text.chars().count());
    let within = |path: &str, most: usize| match length(path) {
        0 => Some(format!("missing required field: text at {path}")),
        long if long > most => Some(format!("must be less than {} characters", most + 1)),
        _ => None,
    };
    match block["type"].as_str().unwrap_or_default() {
        "section" if block["fields"].is_array() => None,
        "section" => within("/text/text", SECTION_MAX),
        "header" => within("/text/text", HEADER_MAX),
        "markdown" => within("/text", MARKDOWN_MAX),
        "image" if text("/alt_text").is_none() => Some("missing required field: alt_text".into()),
        "image" if text("/image_url").is_none() && block["slack_file"].is_null() => {
            Some("missing required field: image_url".into())
        }
        "context" | "actions" if !block["elements"].is_array() => {
            Some("missing required field: elements".into())
        }
        "divider" | "image" | "context" | "actions" | "rich_text" | "video" | "file" | "input"
        | "table" => None,
        other => Some(format!("unsupported type: {other}")),
    }
}
