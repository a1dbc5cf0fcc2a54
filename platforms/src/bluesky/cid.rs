//! The content identifier of a record, by which a reply names the post that it answers before that exists: CIDv1 of the
//! SHA-256 of its DAG-CBOR (<https://atproto.com/specs/data-model>).

use std::collections::BTreeMap;

use ipld_core::{
    cid::{Cid, multihash::Multihash},
    ipld::Ipld,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{Error, ErrorKind, Result};

/// The codes of DAG-CBOR and of SHA-256 (<https://github.com/multiformats/multicodec>).
const DAG_CBOR: u64 = 0x71;
const SHA2_256: u64 = 0x12;

/// Returns the identifier of a record.
pub fn of_record(record: &Value) -> Result<String> {
    let failed = || Error::new(ErrorKind::Server, "The record cannot be written down as CBOR.");
    let data = ipld(record).ok_or_else(failed)?;
    let bytes = serde_ipld_dagcbor::to_vec(&data).map_err(|_| failed())?;
    let hash = Multihash::wrap(SHA2_256, &Sha256::digest(bytes)).map_err(|_| failed())?;
    Ok(Cid::new_v1(DAG_CBOR, hash).to_string())
}

/// Returns a JSON value in the data model: `{"$link": …}` is a link. Records have no fractions.
fn ipld(value: &Value) -> Option<Ipld> {
    Some(match value {
        Value::Null => Ipld::Null,
        Value::Bool(flag) => Ipld::Bool(*flag),
        Value::Number(number) => Ipld::Integer(number.as_i64()?.into()),
        Value::String(text) => Ipld::String(text.clone()),
        Value::Array(list) => Ipld::List(list.iter().map(ipld).collect::<Option<_>>()?),
        Value::Object(fields) => match fields.get("$link").and_then(Value::as_str) {
            Some(link) if fields.len() == 1 => Ipld::Link(Cid::try_from(link).ok()?),
            _ => {
                let inner = fields.iter().map(|(name, value)| Some((name.clone(), ipld(value)?)));
                Ipld::Map(inner.collect::<Option<BTreeMap<_, _>>>()?)
            }
        },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::of_record;

    /// A value from the atproto interoperability tests (`data-model-fixtures.json`).
    #[test]
    fn a_known_record_has_its_identifier() {
        let record = json!({
            "string": "abc", "unicode": "a~öñ©⽘☎𓋓😀👨‍👩‍👧‍👧", "integer": 123, "bool": true, "null": null,
            "array": ["abc", "def", "ghi"],
            "object": {"string": "abc", "number": 123, "bool": true, "arr": ["abc", "def", "ghi"]},
        });
        let cid = "bafyreiclp443lavogvhj3d2ob2cxbfuscni2k5jk7bebjzg7khl3esabwq";
        assert_eq!(of_record(&record).unwrap(), cid);
    }

    #[test]
    fn fractions_have_none() {
        assert!(of_record(&json!({"a": 1.5})).is_err());
    }
}
