//! The handlers that run before the routes: every request ([`request`]), other sites' scripts ([`cors`]), limits ([`rate_limit`])
//! and pages with a log-in ([`page`]).

pub mod cors;
pub mod page;
pub mod rate_limit;
pub mod request;
