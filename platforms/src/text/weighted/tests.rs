//! The cases that twitter-text publishes, and neighbours, in our own words.

use super::{x_links, x_units};

#[test]
fn letters_have_weights() {
    for (text, units) in [
        ("", 0),
        ("abc", 3),
        ("äöü", 3),
        ("e\u{301}", 1),
        ("日本", 4),
        ("한", 2),
        ("\u{1100}\u{1161}\u{11a8}", 2),
        ("“quoted”", 8),
        ("… €", 5),
        ("©®™", 4),
        ("𐀀", 2),
        ("👩‍👩‍👧", 2),
        ("🙋🏽👨‍🎤", 4),
        ("🇩🇪", 2),
        ("❤️", 2),
        ("3️⃣", 2),
        ("a\u{fe0f}", 3),
        ("H🐱☺", 5),
    ] {
        assert_eq!(x_units(text), units, "{text}");
    }
}

#[test]
fn an_address_counts_the_same_however_long_it_is() {
    let long = format!("https://example.org/{}", "a".repeat(300));
    let endless = format!("https://example.org/{}", "a".repeat(4_100));
    for (text, units) in [
        (long.as_str(), 23),
        (endless.as_str(), endless.len()),
        ("http://a.io", 23),
        ("HTTPS://Example.ORG", 23),
        ("see example.com.", 4 + 23 + 1),
        ("(https://example.org/x?y=1)", 25),
        ("https://example.org/a_(b_(c))", 23),
        ("https://example.org/a_(b)c", 23),
        ("https://example.org/a_(b", 23 + 2),
        ("https://example.org/?q[]=1&r[]=2", 23),
        ("https://example.org/path/です", 23 + 4),
        ("これはhttps://example.org/xです", 6 + 23 + 4),
        ("これはexample.orgです", 6 + 23 + 4),
        ("https://bücher.example.net/x", 23),
        ("http://пример.рф/x", 23),
        ("example.рф", 23),
        ("example.net:8080/x", 23),
        ("example.io", 23),
        ("example.co.uk", 23),
        ("www.example.com.br/a?b=c", 23),
        ("example.com?x=1", 23 + 4),
        ("https://example.com?x=1", 23),
        ("example.com,example.org", 23 + 1 + 23),
        ("https://t.co/abc/def", 23 + 4),
        ("ann@example.com", 15),
        ("#example.com", 12),
        ("$example.com", 12),
        ("file.txt", 8),
        ("e.g. this", 9),
        ("1.5 or 2.0", 10),
        ("https://", 8),
        ("https://localhost/x", 19),
        ("https://a.example", 17),
    ] {
        assert_eq!(x_units(text), units, "{text}");
    }
}

#[test]
fn addresses_are_found_as_published() {
    for (text, found) in [
        ("text http://example.com/#search?q=a%20-b", vec!["http://example.com/#search?q=a%20-b"]),
        ("http://xo.example.com/,.;x", vec!["http://xo.example.com/,.;x"]),
        ("http://domain.com-that-goes-on", vec!["http://domain.com"]),
        ("foo.com?#x", vec!["foo.com"]),
        ("foo.baz foo.co.jp foo.comm foo.jp", vec!["foo.co.jp", "foo.jp"]),
        ("Go to http:// example.com/path", vec!["example.com/path"]),
        (
            "です。example.com/a.html中国語example.com/b한국",
            vec!["example.com/a.html", "example.com/b"],
        ),
        (
            "a.com中国語t.co/x한국b.com c2.comテストd.com/y",
            vec!["a.com", "t.co/x", "b.com", "c2.com", "d.com/y"],
        ),
        ("http://example.com/Русские_слова", vec!["http://example.com/Русские_слова"]),
        ("http://sub_domain-dash.example.com", vec!["http://sub_domain-dash.example.com"]),
        ("http://a_b.c-d.com", vec!["http://a_b.c-d.com"]),
        ("http://-lead.example.com", vec![]),
        ("http://trail-.example.com", vec![]),
        ("http://_lead.example.com", vec![]),
        ("http://dash_dash.no-under_score.com", vec![]),
        ("http://example-.com", vec![]),
        ("http://example.com/@user/", vec!["http://example.com/@user/"]),
        (
            "http://example.com/a- http://example.com/b+",
            vec!["http://example.com/a-", "http://example.com/b+"],
        ),
        ("http://example.com.", vec!["http://example.com"]),
        ("x@日example.com", vec!["example.com"]),
    ] {
        assert_eq!(x_links(text), found, "{text}");
    }
}
