//! E-mail addresses: one mailbox has one form.

use std::net::IpAddr;

use lettre::Address;
use url::Host;

/// The longest address, in bytes (RFC 5321 section 4.5.3.1.3, without the angle brackets).
const MAX_BYTES: usize = 254;

/// Returns an e-mail address in the form in which it is stored, counted and sent to: in lower case, with the domain as
/// DNS spells it. `None` if the text is not just an address: a name, a comment, a second address, a quoted local part or
/// a number in place of the domain would be another spelling of a mailbox, or lead to another one.
#[must_use]
pub fn canonical_address(text: &str) -> Option<String> {
    let address: Address = text.trim().parse().ok()?;
    let (user, domain) = (address.user(), address.domain());
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte);
    if !user.bytes().all(is_plain) || domain.ends_with('.') || domain.parse::<IpAddr>().is_ok() {
        return None;
    }
    // A domain that a URL parser reads as a number, such as `0x7f.1`, is none either.
    let Ok(Host::Domain(domain)) = Host::parse(domain) else { return None };
    let address = format!("{}@{domain}", user.to_lowercase());
    (address.len() <= MAX_BYTES).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::canonical_address;

    #[test]
    fn every_spelling_of_a_mailbox_is_one_address() {
        let ada = Some("ada@example.com".to_owned());
        for same in ["ada@example.com", " Ada@Example.COM\n", "ADA@EXAMPLE.COM"] {
            assert_eq!(canonical_address(same), ada, "{same:?}");
        }
        let idn = Some("ada@xn--bcher-kva.example".to_owned());
        for same in ["ada@bücher.example", "ada@BÜCHER.example", "ada@xn--bcher-kva.example"] {
            assert_eq!(canonical_address(same), idn, "{same:?}");
        }
        assert_eq!(
            canonical_address("ada+tag@example.com").as_deref(),
            Some("ada+tag@example.com")
        );
    }

    #[test]
    fn what_is_more_or_less_than_an_address_is_none() {
        for bad in [
            "",
            "ada",
            "@example.com",
            "ada@",
            "a@b@c",
            "a<victim@target.example>",
            "Ada <ada@example.com>",
            "<ada@example.com>",
            "ada@example.com, bob@example.com",
            "ada@example.com;bob@example.com",
            "ada(comment)@example.com",
            "ada@(comment)example.com",
            "\"ada\"@example.com",
            "\"a@b\"@example.com",
            "ada@example.com.",
            "ada@.example.com",
            "ada@example..com",
            ".ada@example.com",
            "ada.@example.com",
            "a..da@example.com",
            "ada @example.com",
            "ada@ example.com",
            "ada@exam ple.com",
            "ada@example.com\r\nBcc: bob@example.com",
            "ada\0@example.com",
            "ada@[127.0.0.1]",
            "ada@127.0.0.1",
            "ada@0x7f.1",
            "ada@example.com/path",
            "ada@example.com:25",
            "ａda@example.com",
            "mailto:ada@example.com?cc=bob@example.com",
        ] {
            assert_eq!(canonical_address(bad), None, "{bad:?}");
        }
        assert_eq!(canonical_address(&format!("{}@example.com", "a".repeat(65))), None);
        let long = format!("a@{}example.com", "a.".repeat(125));
        assert_eq!(canonical_address(&long), None);
    }
}
