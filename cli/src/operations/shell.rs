//! Commands as somebody types them at a shell.

use serde_json::Value;

pub use fanfare_doors::{flag, option, quoted};

use super::document::{Operation, ParameterKind, ParameterLocation};

/// Returns a command that does what the example of an operation does.
pub fn example(operation: &Operation) -> String {
    let mut words = vec![format!("fanfare {} {}", operation.tag, operation.verb)];
    let in_path = operation.parameters.iter().filter(|one| one.location == ParameterLocation::Path);
    words.extend(in_path.map(|one| one.name.to_uppercase()));
    let needed = operation
        .parameters
        .iter()
        .filter(|one| one.location == ParameterLocation::Query && one.required);
    words.extend(needed.map(|one| format!("{}={}", flag(&one.name), one.name.to_uppercase())));
    for (name, value) in operation.example.as_object().into_iter().flatten() {
        let kind = operation.parameters.iter().find(|one| one.name == *name).map(|one| one.kind);
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match (kind, value.as_array()) {
            (Some(ParameterKind::Texts), Some(several)) => {
                words.extend(several.iter().map(|one| option(name, &text(one))));
            }
            _ => words.push(option(name, &text(value))),
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{super::document::operations, *};

    #[test]
    fn an_example_is_a_command() {
        let example = |id: &str| example(operations().iter().find(|one| one.id == id).unwrap());
        assert_eq!(
            example("create_post"),
            "fanfare posts create --account-id=7 --caption='Hello!' --scheduled-at=2030-01-31T09:00:00Z"
        );
        assert_eq!(example("get_post"), "fanfare posts get ID");
    }
}
