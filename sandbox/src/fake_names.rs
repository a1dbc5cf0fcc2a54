//! Generated names for accounts that were created without one.

const FIRST: [&str; 24] = [
    "amber", "autumn", "brass", "calm", "cedar", "clover", "copper", "coral", "crisp", "dapper",
    "early", "fern", "gentle", "golden", "hazel", "indigo", "ivory", "lucky", "maple", "mellow",
    "quiet", "silver", "sunny", "velvet",
];
const SECOND: [&str; 23] = [
    "badger", "beacon", "brook", "comet", "condor", "falcon", "finch", "harbor", "heron",
    "lantern", "lark", "marten", "meadow", "orchard", "otter", "plover", "puffin", "raven",
    "robin", "sparrow", "thistle", "trumpet", "willow",
];

/// Returns the two words of the `n`th name. After 552 names they repeat, with a number added.
pub(crate) fn name(n: usize) -> (String, String) {
    let round = n / (FIRST.len() * SECOND.len());
    // 24 and 23 are coprime, so stepping both at once yields every pair.
    let first = FIRST[n % FIRST.len()].to_owned();
    let second = SECOND[n % SECOND.len()];
    let second = if round == 0 { second.to_owned() } else { format!("{second}{}", round + 1) };
    (first, second)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_do_not_repeat() {
        let names: std::collections::HashSet<_> = (0..2_000).map(super::name).collect();
        assert_eq!(names.len(), 2_000);
    }
}
