//! The words of refusals at the doors of this service: over HTTP, and as tools.

use std::sync::LazyLock;

use fanfare_doors::{Door, Operation, Words};

use crate::{Route, routes::ROUTES};

static REST: LazyLock<Words> = LazyLock::new(|| Words::new(Door::Rest, operations()));
static TOOLS: LazyLock<Words> = LazyLock::new(|| Words::new(Door::Mcp, operations()));

/// Returns the words of those who send requests.
pub fn requests() -> &'static Words {
    &REST
}

/// Returns the words of agents.
pub fn tools() -> &'static Words {
    &TOOLS
}

/// Returns all operations, with their names.
fn operations() -> Vec<Operation> {
    let operation = |route: &Route| Operation {
        id: route.name.to_owned(),
        method: route.method.as_str().to_owned(),
        path: route.path.to_owned(),
        command: route.command(),
        parameters: Vec::new(),
    };
    ROUTES.iter().map(operation).collect()
}

#[cfg(test)]
mod tests {
    use fanfare_core::{Code, Error};
    use serde_json::json;

    use super::*;

    #[test]
    fn no_refusal_of_the_catalogue_is_in_the_words_of_another_door() {
        for code in Code::ALL {
            let refusal = json!(Error::new(*code, code.entry().cause).refusal());
            let (mut rest, mut tool) = (refusal.clone(), refusal);
            requests().render(&mut rest, None);
            tools().render(&mut tool, None);
            let said =
                |refusal: &serde_json::Value| format!("{} {}", refusal["error"], refusal["remedy"]);
            let (rest, tool) = (said(&rest), said(&tool));
            assert!(!tool.contains("/api/v1/"), "{code:?}: {tool}");
            let of_tools = |name: &&Route| name.name.contains('_') && rest.contains(name.name);
            assert!(ROUTES.iter().find(of_tools).is_none(), "{code:?}: {rest}");
            for said in [&rest, &tool] {
                assert!(!said.contains(" --") && !said.contains("`--"), "{code:?}: {said}");
            }
        }
    }
}
