//! fanfare
