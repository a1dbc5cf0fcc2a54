//! Reads a site's errors.

use fanfare_outbound::Reply;
use serde::Deserialize;

use crate::{Error, Session, response};

#[derive(Default, Deserialize)]
struct Body {
    code: Option<String>,
    message: Option<String>,
}

/// Codes of what WordPress checks before it stores a post. Featured image, terms, template and fields of plugins are set
/// after that: <https://developer.wordpress.org/reference/classes/wp_rest_posts_controller/create_item/>.
const CHECKED_FIRST: [&str; 9] = [
    "empty_content",
    "rest_invalid_author",
    "rest_invalid_date",
    "rest_invalid_field",
    "rest_invalid_json",
    "rest_invalid_param",
    "rest_missing_callback_param",
    "rest_post_exists",
    "rest_post_invalid_id",
];

/// Converts an error response. Sites differ by their plugins, so the status decides where the code is not one of
/// WordPress's own.
pub fn parse_error(session: &Session, reply: &Reply) -> Error {
    let body: Body = reply.json_behind_output().unwrap_or_default();
    let code = body.code.as_deref().unwrap_or_default();
    let words = body.message.map(|text| session.secrets.redact(&text));
    let said = words.as_deref().unwrap_or(code).trim_end_matches('.');
    let error = match (code, reply.status) {
        (code, _) if code.starts_with("rest_upload_") => {
            Error::media_rejected(format!("The site does not take the file: {said}."))
        }
        ("rest_not_logged_in", _) => Error::reconnect("The site did not recognise the user.")
            .with_remedy(
                "Check the user name and application password; if they are right, let the web server pass the \
                 Authorization header on to WordPress.",
            ),
        (_, 401) => Error::reconnect(format!("The site does not accept the credentials: {said}."))
            .with_remedy("Make a new application password and connect the account again."),
        (code, 403) if code.starts_with("rest_") => {
            Error::reconnect(format!("The site does not let the user do this: {said}."))
                .with_remedy("Give the user the role of an Author or Editor, then connect again.")
        }
        (_, 403) => Error::permission_missing("Something in front of the site refuses the request.")
            .with_remedy("Allow REST API requests in the site's security plugin or firewall."),
        (code, _) if CHECKED_FIRST.contains(&code) => {
            response::error_by_status("The site", reply, said).nothing_done()
        }
        ("rest_no_route", _) => no_api().nothing_done(),
        (_, 404 | 405 | 410) => no_api(),
        _ => response::error_by_status("The site", reply, said),
    };
    error.with_reply(reply.status, body.code.as_deref(), words.as_deref())
}

fn no_api() -> Error {
    Error::target_gone("The site's REST API was not found.")
        .with_remedy("Check the address of the site and that its REST API is switched on.")
}
