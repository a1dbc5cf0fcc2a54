//! What pages with a log-in have in common, the operators' and everybody's: their frame and headers, forms and
//! their tokens, and the log-in itself.

pub mod answer;
pub mod form;
pub mod frame;
pub mod login;
pub mod visit;
