//! Random strings in the alphabets that the platforms use.

/// Lower-case base 32 as in DIDs and CIDs (RFC 4648).
pub(crate) const BASE32: &[u8] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Letters, digits, `-` and `_`.
pub(crate) const BASE64URL: &[u8] =
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Letters and digits.
pub(crate) const BASE62: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Returns `length` random characters of `alphabet`.
pub(crate) fn text(alphabet: &[u8], length: usize) -> String {
    (0..length).map(|_| char::from(alphabet[rand::random_range(0..alphabet.len())])).collect()
}

/// Returns a random number from 0 up to `most`, which is included.
pub(crate) fn up_to(most: u64) -> u64 {
    rand::random_range(0..=most)
}

/// Returns a random number of exactly `digits` decimal digits (1 to 18), the first not 0.
pub(crate) fn number(digits: u32) -> i64 {
    let low = 10_i64.pow(digits - 1);
    rand::random_range(low..low * 10)
}
