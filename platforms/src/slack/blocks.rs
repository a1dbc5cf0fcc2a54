//! Checks blocks before they are sent to Slack.

use serde_json::Value;

use crate::Violation;

/// Kinds of block that a message may hold.
const KINDS: &[&str] = &[
    "actions",
    "alert",
    "card",
    "carousel",
    "context",
    "context_actions",
    "data_table",
    "divider",
    "file",
    "header",
    "image",
    "input",
    "markdown",
    "plan",
    "rich_text",
    "section",
    "table",
    "task_card",
    "video",
];

/// The longest texts of blocks: the type, the field and the limit.
const TEXTS: &[(&str, &str, usize)] = &[
    ("section", "/text/text", 3_000),
    ("header", "/text/text", 150),
    ("markdown", "/text", 12_000),
    ("image", "/alt_text", 2_000),
];

/// Checks the types and texts of blocks. Slack checks everything else.
pub fn check(blocks: &[Value]) -> Vec<Violation> {
    let mut found = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let field = format!("settings.blocks[{index}]");
        let kind = block["type"].as_str().unwrap_or_default();
        if !KINDS.contains(&kind) {
            let message = format!("{field} has no type that Slack knows.");
            let remedy = format!("Use one of: {}.", KINDS.join(", "));
            found.push(Violation::new(field.clone(), "setting_invalid", message, remedy));
        }
        for (_, path, most) in TEXTS.iter().filter(|(of, ..)| *of == kind) {
            let length =
                block.pointer(path).and_then(Value::as_str).map_or(0, |text| text.chars().count());
            if length > *most {
                let field = format!("{field}{}", path.replace('/', "."));
                let message = format!("{field} has {length} characters; slack allows {most}.");
                let remedy = format!("Shorten it to {most} characters, or use several blocks.");
                let violation = Violation::new(field, "setting_invalid", message, remedy);
                found.push(violation.with_limit(most, length).in_unit("characters"));
            }
        }
    }
    found
}
