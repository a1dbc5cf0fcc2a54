//! A `curl` line for a route.

use crate::Route;

const UUID: &str = "0192f0c1-2d3e-7a4b-8c5d-6e7f8a9b0c1d";

/// The id of a signup: 256 bits in base64.
const SIGNUP: &str = "3q2-7wAAESIzRFVmd4iZqrvM3e7_ABEiM0RVZneImao";

/// The line, to be pasted into a shell that has `FANFARE_API_KEY`.
pub fn curl(base_url: &str, route: &Route) -> String {
    let method = match route.method {
        crate::Method::Get => String::new(),
        other => format!("-X {} ", other.as_str()),
    };
    let address = format!("{base_url}{}{}", path(route), query(route));
    let mut line = format!("curl {method}{}", quoted(&address));
    if route.public.is_none() {
        line += " \\\n  -H \"Authorization: Bearer $FANFARE_API_KEY\"";
    }
    if let Some(body) = route.body {
        line += " \\\n  -H \"Content-Type: application/json\"";
        line += &format!(" \\\n  -d {}", quoted(body.example));
    }
    line
}

fn path(route: &Route) -> String {
    let numbered =
        route.path.starts_with("/api/v1/posts/") || route.path.starts_with("/api/v1/accounts/");
    route
        .path
        .replace("{id}", if numbered { "42" } else { UUID })
        .replace("{delivery_id}", UUID)
        .replace("{client_id}", "app_0123456789abcdefghijABCD")
        .replace("{platform}", "bluesky")
        .replace("{session_id}", SIGNUP)
        .replace("{group}", "launch")
}

/// The query parameters without which the example would fail.
fn query(route: &Route) -> &'static str {
    match route.name {
        "delete_post_group" => "?confirm=true",
        "list_sandbox_posts" => "?account_id=7",
        _ => "",
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;

    #[test]
    fn no_example_has_a_hole() {
        for route in ROUTES {
            let line = curl("https://f.example", route);
            let address = line.lines().next().unwrap();
            assert!(!address.contains('{'), "{line}");
            assert_eq!(line.contains("$FANFARE_API_KEY"), route.public.is_none(), "{line}");
            assert_eq!(line.contains("-d '"), route.body.is_some(), "{line}");
        }
    }
}
