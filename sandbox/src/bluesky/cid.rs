//! Content identifiers: CIDv1 over DAG-CBOR (records) or raw bytes (blobs), SHA-256, base 32.
//!
//! <https://atproto.com/specs/data-model>

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::random::BASE32;

const DAG_CBOR: u8 = 0x71;
const RAW: u8 = 0x55;

/// Returns the CID of a blob's bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    text(RAW, bytes)
}

/// Returns the CID of a record. `Err` says what violates the data model.
pub(crate) fn of_record(record: &Value) -> Result<String, &'static str> {
    let mut cbor = Vec::with_capacity(256);
    encode(record, &mut cbor)?;
    Ok(text(DAG_CBOR, &cbor))
}

fn text(codec: u8, bytes: &[u8]) -> String {
    let mut cid = vec![1, codec, 0x12, 32];
    cid.extend(Sha256::digest(bytes));
    format!("b{}", base32(&cid))
}

fn base32(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 8 / 5 + 1);
    let (mut bits, mut held) = (0_u32, 0);
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        held += 8;
        while held >= 5 {
            held -= 5;
            out.push(char::from(BASE32[(bits >> held) as usize & 31]));
        }
    }
    if held > 0 {
        out.push(char::from(BASE32[(bits << (5 - held)) as usize & 31]));
    }
    out
}

/// Returns the bytes of a CID, or `None` if the text is not a CID.
fn parse(cid: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(36);
    let (mut bits, mut held) = (0_u32, 0);
    for c in cid.strip_prefix('b')?.bytes() {
        let digit = BASE32.iter().position(|b| *b == c)?;
        bits = bits << 5 | u32::try_from(digit).ok()?;
        held += 5;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xff) as u8);
        }
    }
    (out.len() == 36 && out.starts_with(&[1])).then_some(out)
}

/// Returns true if `text` is a CID.
pub(crate) fn is_valid(text: &str) -> bool {
    parse(text).is_some()
}

fn head(major: u8, n: u64, out: &mut Vec<u8>) {
    let major = major << 5;
    match n {
        0..=23 => out.push(major | n as u8),
        24..=0xff => out.extend([major | 24, n as u8]),
        0x100..=0xffff => {
            out.push(major | 25);
            out.extend((n as u16).to_be_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            out.push(major | 26);
            out.extend((n as u32).to_be_bytes());
        }
        _ => {
            out.push(major | 27);
            out.extend(n.to_be_bytes());
        }
    }
}

fn encode(value: &Value, out: &mut Vec<u8>) -> Result<(), &'static str> {
    match value {
        Value::Null => out.push(0xf6),
        Value::Bool(b) => out.push(if *b { 0xf5 } else { 0xf4 }),
        Value::Number(n) => match (n.as_u64(), n.as_i64()) {
            (Some(n), _) => head(0, n, out),
            (_, Some(n)) => head(1, n.unsigned_abs() - 1, out),
            _ => return Err("a record must not hold numbers with a fraction"),
        },
        Value::String(s) => {
            head(3, s.len() as u64, out);
            out.extend(s.as_bytes());
        }
        Value::Array(items) => {
            head(4, items.len() as u64, out);
            for item in items {
                encode(item, out)?;
            }
        }
        Value::Object(map) => {
            if let (1, Some(Value::String(link))) = (map.len(), map.get("$link")) {
                let cid = parse(link).ok_or("a $link must be a CID")?;
                // Tag 42, then the CID after a zero byte, as DAG-CBOR wants links.
                out.extend([0xd8, 0x2a]);
                head(2, cid.len() as u64 + 1, out);
                out.push(0);
                out.extend(cid);
                return Ok(());
            }
            let mut keys: Vec<_> = map.keys().collect();
            keys.sort_by(|a, b| (a.len(), a.as_bytes()).cmp(&(b.len(), b.as_bytes())));
            head(5, map.len() as u64, out);
            for key in keys {
                head(3, key.len() as u64, out);
                out.extend(key.as_bytes());
                encode(&map[key], out)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{is_valid, of_bytes, of_record};

    #[test]
    fn known_values_come_out() {
        // The empty map and the empty file, as every IPFS tool prints them.
        assert_eq!(
            of_record(&json!({})).unwrap(),
            "bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua"
        );
        assert_eq!(of_bytes(b""), "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku");
    }

    #[test]
    fn content_decides() {
        let cid = |text: &str| {
            of_record(&json!({"text": text, "n": -1, "link": {"$link": of_bytes(b"x")}})).unwrap()
        };
        assert_eq!(cid("a"), cid("a"));
        assert_ne!(cid("a"), cid("b"));
        assert!(is_valid(&cid("a")));
        assert!(!is_valid("bafy"));
        assert!(of_record(&json!({"n": 1.5})).is_err());
        assert!(of_record(&json!({"ref": {"$link": "nonsense"}})).is_err());
    }
}
