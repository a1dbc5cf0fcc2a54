//! Middleware: ids and logs of every request ([`request`]), CORS ([`cors`]), rate limits ([`rate_limit`]) and pages
//! with a log-in ([`page`]).

pub mod cors;
pub mod page;
pub mod rate_limit;
pub mod request;
