//! The common parts of pages with a log-in, for operators and users: their frame and headers, forms and
//! their tokens, and the log-in itself.

pub mod answer;
pub mod form;
pub mod frame;
pub mod login;
pub mod visit;
