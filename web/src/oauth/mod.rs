//! The pages of the OAuth provider: consent, and the code for programs without a browser.

mod authorize;
mod code;
mod consent;

use fanfare_api::router_ext::RouterExt as _;
use fanfare_core::Domain;
use salvo::Router;

use authorize::Authorize;
use code::CodePage;

/// Returns the router of the pages.
pub fn router(domain: &Domain) -> Router {
    let page = || Authorize(domain.clone());
    Router::new()
        .push(Router::with_path("api/oauth/authorize").get_and_head(page()).post(page()))
        .push(Router::with_path("oauth/code").get_and_head(CodePage))
}
