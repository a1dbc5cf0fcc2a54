//! Record keys: a TID is 13 characters for 53 bits of microseconds and 10 bits that name the clock.

use uuid::Uuid;

const ALPHABET: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";

/// The record key of a post: always the same for one draft key.
///
/// Of a UUIDv7 it takes the milliseconds as the time and random bits as microseconds and clock, so that keys of posts
/// made in one millisecond still differ.
pub fn from_key(key: Uuid) -> String {
    let bits = key.as_u128();
    let milliseconds = (bits >> 80) as u64;
    let random = (bits >> 64) as u64 & 0xfff;
    let microseconds = milliseconds.wrapping_mul(1_000) + random * 1_000 / 0x1000;
    let clock = bits as u64 & 0x3ff;
    encode((microseconds & ((1 << 53) - 1)) << 10 | clock)
}

/// 64 bits (the first is 0) in groups of five, the highest first; the first group has only four of them.
fn encode(value: u64) -> String {
    let digit = |group: u32| ALPHABET[(value >> (5 * group)) as usize & 31] as char;
    (0..13).rev().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::{encode, from_key};

    #[test]
    fn known_values_are_encoded_as_the_protocol_does() {
        assert_eq!(encode(0), "2222222222222");
        assert_eq!(encode(u64::MAX >> 1), "bzzzzzzzzzzzz");
        // 3jzfcijpj2z2a is an example of the specification; its microseconds and clock, put together again.
        assert_eq!(encode(1_688_137_381_887_007 << 10 | 6), "3jzfcijpj2z2a");
    }

    #[test]
    fn the_time_of_the_key_is_the_time_of_the_record() {
        let key = Uuid::from_u128(0x0189_0f0e_0f0f_7800_8000_0000_0000_0006);
        let microseconds = 0x0189_0f0e_0f0f_u64 * 1_000 + 500;
        assert_eq!(from_key(key), encode(microseconds << 10 | 6));
    }

    proptest! {
        #[test]
        fn every_key_gives_a_valid_record_key(bits: u128) {
            let key = from_key(Uuid::from_u128(bits));
            prop_assert_eq!(key.len(), 13);
            prop_assert!("234567abcdefghij".contains(&key[..1]), "{}", key);
            prop_assert!(key.chars().all(|c| "234567abcdefghijklmnopqrstuvwxyz".contains(c)));
        }

        #[test]
        fn later_keys_sort_later(ms in 1_u64..(1 << 43), random: u128) {
            let at = |ms: u64| from_key(Uuid::from_u128(u128::from(ms) << 80 | random >> 48));
            prop_assert!(at(ms) < at(ms + 1));
        }
    }
}
