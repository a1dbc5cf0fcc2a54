//! Record keys: a TID encodes 53 bits of microseconds and a 10-bit clock id in 13 characters.

use uuid::Uuid;

const ALPHABET: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";

/// The time span, in ms and a power of two, within which keys may be in a different order than their posts.
const WINDOW: u64 = 1_024;

/// Returns the record key of a post: always the same for one draft key.
///
/// It uses the time of the UUIDv7 to about a second and fills the other 30 bits from its random ones, so that posts
/// created together differ: in a batch of 25, two collide once in three million. `publish.rs` handles a key that
/// another post has.
pub fn from_key(key: Uuid) -> String {
    nth(key, 0)
}

/// Returns the record key of a part of a chain, from 0: each is a microsecond after the one before.
pub fn nth(key: Uuid, part: u64) -> String {
    let bits = key.as_u128();
    let milliseconds = (bits >> 80) as u64 / WINDOW * WINDOW;
    let random = mix_bits(bits as u64 ^ ((bits >> 64) as u64 & 0xfff) << 52);
    let within = ((random >> 44) * WINDOW * 1_000) >> 20;
    let microseconds = milliseconds.wrapping_mul(1_000).wrapping_add(within).wrapping_add(part);
    encode((microseconds & ((1 << 53) - 1)) << 10 | random & 0x3ff)
}

/// Mixes the bits so that each input bit affects all others (the last steps of SplitMix64).
fn mix_bits(bits: u64) -> u64 {
    let bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// Encodes 64 bits (the first is 0) in groups of five, highest first; the first group has only four.
fn encode(value: u64) -> String {
    let digit = |group: u32| ALPHABET[(value >> (5 * group)) as usize & 31] as char;
    (0..13).rev().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::{WINDOW, encode, from_key, nth};

    #[test]
    fn known_values_are_encoded_as_the_protocol_does() {
        assert_eq!(encode(0), "2222222222222");
        assert_eq!(encode(u64::MAX >> 1), "bzzzzzzzzzzzz");
        // 3jzfcijpj2z2a is an example of the specification; its microseconds and clock, put together again.
        assert_eq!(encode(1_688_137_381_887_007 << 10 | 6), "3jzfcijpj2z2a");
    }

    #[test]
    fn the_time_of_the_key_is_the_time_of_the_record_to_a_second() {
        let ms = 0x0189_0f0e_0f0f_u64 / WINDOW * WINDOW;
        let key = Uuid::from_u128(0x0189_0f0e_0f0f_7800_8008_0006_0000_0000);
        let (first, last) = (encode((ms * 1_000) << 10), encode(((ms + WINDOW) * 1_000) << 10));
        assert!((first..last).contains(&from_key(key)));
    }

    #[test]
    fn posts_made_together_have_keys_of_their_own() {
        let keys: std::collections::BTreeSet<_> =
            (0..2_000).map(|_| from_key(Uuid::now_v7())).collect();
        assert!(keys.len() >= 1_999, "{}", keys.len());
    }

    #[test]
    fn the_parts_of_a_chain_follow_each_other() {
        let key = Uuid::now_v7();
        assert_eq!(nth(key, 0), from_key(key));
        assert!(nth(key, 0) < nth(key, 1) && nth(key, 1) < nth(key, 49));
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
            prop_assert!(at(ms) < at(ms + WINDOW));
        }
    }
}
