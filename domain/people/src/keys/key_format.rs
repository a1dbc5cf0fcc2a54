//! The format of keys and tokens: a prefix, 32 random base62 characters, and 6 characters of a checksum over them, so
//! that a typo is detected without the database.

use rand::RngExt;
use sha2::{Digest, Sha256};

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_CHARS: usize = 32;
const CHECKSUM_CHARS: usize = 6;

/// The number of characters after the prefix that are shown to tell keys apart.
const PREFIX_CHARS: usize = 8;

/// Returns a new key with this prefix.
#[must_use]
pub fn generate(start: &str) -> String {
    let random = random(RANDOM_CHARS);
    format!("{start}{random}{}", checksum(&random))
}

/// Returns the key with this prefix that follows from a secret.
#[must_use]
pub fn derived(start: &str, secret: &str) -> String {
    let digest = Sha256::digest(secret.as_bytes());
    let digits: String =
        digest.iter().map(|byte| char::from(DIGITS[usize::from(*byte) % DIGITS.len()])).collect();
    format!("{start}{digits}{}", checksum(&digits))
}

/// Returns this many random base62 characters.
#[must_use]
pub fn random(many: usize) -> String {
    let mut rng = rand::rng();
    (0..many).map(|_| char::from(DIGITS[rng.random_range(0..DIGITS.len())])).collect()
}

/// Returns the CRC-32 (IEEE) in base62, most significant digit first, padded with `0`.
fn checksum(random: &str) -> String {
    let mut rest = crc32fast::hash(random.as_bytes());
    let mut digits = [b'0'; CHECKSUM_CHARS];
    for place in digits.iter_mut().rev() {
        *place = DIGITS[(rest % 62) as usize];
        rest /= 62;
    }
    String::from_utf8_lossy(&digits).into_owned()
}

/// Returns true if the text has the format of a key with this prefix, and its checksum is right.
#[must_use]
pub fn has_format(start: &str, key: &str) -> bool {
    let Some(rest) = key.strip_prefix(start) else { return false };
    if rest.len() != RANDOM_CHARS + CHECKSUM_CHARS
        || !rest.bytes().all(|byte| DIGITS.contains(&byte))
    {
        return false;
    }
    let (random, check) = rest.split_at(RANDOM_CHARS);
    checksum(random) == check
}

/// Returns the part of a key that is shown to tell keys apart.
#[must_use]
pub fn prefix_of(key: &str) -> &str {
    let start = key.find('_').map_or(0, |place| place + 1);
    key.get(..start + PREFIX_CHARS).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::{DIGITS, checksum, generate, has_format, prefix_of};

    #[test]
    fn a_key_with_one_wrong_character_is_refused_without_the_database() {
        let key = generate("fan_");
        assert_eq!((key.len(), prefix_of(&key)), (42, &key[..12]));
        assert!(has_format("fan_", &key) && !has_format("fat_", &key));
        for place in 4..key.len() {
            for digit in DIGITS {
                let mut typo = key.clone().into_bytes();
                if typo[place] == *digit {
                    continue;
                }
                typo[place] = *digit;
                assert!(!has_format("fan_", &String::from_utf8(typo).unwrap()), "place {place}");
            }
        }
        for bad in ["", "fan_", "fan", &key[..41], &format!("{key}0"), &key.to_uppercase()] {
            assert!(!has_format("fan_", bad), "{bad}");
        }
    }

    #[test]
    fn the_checksum_is_crc32_in_base62() {
        // CRC-32 of "123456789" is the well-known 0xCBF43926 = 3421780262.
        assert_eq!(checksum("123456789"), "3jZRME");
    }
}
