//! What operators need: pages and actions over all workspaces, health, clean-up, the end of a workspace; and what puts a
//! [`Domain`](fanfare_core::Domain) together from all features.

pub mod assemble;
pub mod feedback;
pub mod health;
pub mod ops;
pub mod support;
pub mod updates;
pub mod upkeep;
pub mod workspace_deletion;
