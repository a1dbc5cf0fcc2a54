//! What pages with a log-in have in common, the operators' and everybody's: their frame and headers, forms and
//! their tokens, the log-in itself, and the gate before every page.

pub mod answer;
pub mod form;
pub mod frame;
pub mod gate;
pub mod login;
pub mod visit;
