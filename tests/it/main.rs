//! Stories: what users of the service can rely on, told through its public API.

mod arrows;
mod publishing;
