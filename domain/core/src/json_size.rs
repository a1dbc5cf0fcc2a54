//! The size of values in JSON.

use std::io;

use serde::Serialize;

/// Returns the number of bytes of a value in JSON.
pub fn json_size(value: &impl Serialize) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Nothing here fails: the keys of values are strings, and the counter accepts everything.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

#[cfg(test)]
mod tests {
    use super::json_size;

    #[test]
    fn the_size_of_a_value_is_that_of_its_json() {
        let value = serde_json::json!({"a": ["\u{e9}\n", 1.5, null]});
        assert_eq!(json_size(&value), value.to_string().len());
    }
}
