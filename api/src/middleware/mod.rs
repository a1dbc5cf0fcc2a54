//! The handlers that run before the routes: every request ([`request`]), limits ([`rate_limit`]) and pages with a log-in
//! ([`page`]).

pub mod page;
pub mod rate_limit;
pub mod request;
