//! The words that the pages about metrics share.

/// Returns the reason why a metric is unknown, in words.
pub fn reason(why: Option<&str>) -> &'static str {
    match why {
        Some("pending") => "not read yet",
        Some("permission") => "permission is missing",
        Some("too_few_viewers") => "too few viewers",
        Some("expired") => "no longer given by the network",
        _ => "not given by the network",
    }
}
