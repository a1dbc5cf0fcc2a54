//! Middleware: ids and logs of every request ([`request`]), CORS ([`cors`]), rate limits ([`rate_limit`]), and the end of
//! a process ([`farewell`]).

pub mod cors;
pub mod farewell;
pub mod rate_limit;
pub mod request;
pub mod same_origin;
