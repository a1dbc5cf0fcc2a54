//! Slugs: how WordPress makes them from titles, and keeps them unique.

use std::fmt::Write;

use super::state::State;

/// The longest slug, in bytes.
const MOST: usize = 200;

/// Converts a title to a slug: lower case, dashes for spaces, no accents, other scripts percent-encoded.
pub(super) fn sanitized(title: &str) -> String {
    let mut slug = String::new();
    let mut in_tag = false;
    for c in title.chars() {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => in_tag = false,
            _ if in_tag => {}
            c if c.is_ascii_alphanumeric() || c == '_' => slug.push(c.to_ascii_lowercase()),
            c if c.is_whitespace() || "-./–—".contains(c) => slug.push('-'),
            c if c.is_ascii() => {}
            c => match plain(c) {
                Some(plain) => slug.push_str(plain),
                None => encode(c, &mut slug),
            },
        }
        if slug.ends_with("--") {
            slug.pop();
        }
    }
    while slug.len() > MOST {
        slug.pop();
    }
    slug.trim_matches('-').to_owned()
}

fn encode(c: char, to: &mut String) {
    if !c.is_alphanumeric() {
        return;
    }
    let mut bytes = [0; 4];
    for byte in c
        .to_lowercase()
        .collect::<String>()
        .chars()
        .flat_map(|c| c.encode_utf8(&mut bytes).bytes().collect::<Vec<_>>())
    {
        // Writing to a string cannot fail.
        let _written = write!(to, "%{byte:02x}");
    }
}

/// Returns a Latin letter without its accent.
fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        'à' | 'á' | 'â' | 'ã' | 'å' | 'À' | 'Á' | 'Â' | 'Ã' | 'Å' | 'ā' | 'ă' | 'ą' | 'ä' | 'Ä' => {
            "a"
        }
        'æ' | 'Æ' => "ae",
        'ç' | 'Ç' | 'ć' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'È' | 'É' | 'Ê' | 'Ë' | 'ē' | 'ė' | 'ę' | 'ě' => "e",
        'ì' | 'í' | 'î' | 'ï' | 'Ì' | 'Í' | 'Î' | 'Ï' | 'ī' | 'ı' => "i",
        'ł' | 'Ł' => "l",
        'ñ' | 'Ñ' | 'ń' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ø' | 'ö' | 'Ò' | 'Ó' | 'Ô' | 'Õ' | 'Ø' | 'Ö' | 'ō' | 'ő' => {
            "o"
        }
        'œ' | 'Œ' => "oe",
        'ř' => "r",
        'ś' | 'š' | 'Š' | 'ș' | 'ş' => "s",
        'ß' => "ss",
        'ť' | 'ț' | 'ţ' => "t",
        'ù' | 'ú' | 'û' | 'ü' | 'Ù' | 'Ú' | 'Û' | 'Ü' | 'ū' | 'ů' | 'ű' => "u",
        'ý' | 'ÿ' | 'Ý' => "y",
        'ź' | 'ż' | 'ž' | 'Ž' => "z",
        _ => return None,
    })
}

/// Returns the slug, or the first of `slug-2`, `slug-3`, … that no other article has. WordPress never refuses one.
pub(super) fn unique(state: &State, slug: String, own: u64) -> String {
    let mine = |slug: &str| state.articles.get(&own).is_some_and(|article| article.slug == slug);
    let free = |slug: &str| !state.slugs.contains(slug) || mine(slug);
    if free(&slug) {
        return slug;
    }
    (2_u64..).map(|n| format!("{slug}-{n}")).find(|candidate| free(candidate)).unwrap_or(slug)
}

#[cfg(test)]
mod tests {
    use super::sanitized;

    #[test]
    fn titles_become_slugs() {
        assert_eq!(sanitized("Hello, World! It's v1.2"), "hello-world-its-v1-2");
        assert_eq!(sanitized("  Über <b>Käse</b> – ça  "), "uber-kase-ca");
        assert_eq!(sanitized("日本"), "%e6%97%a5%e6%9c%ac");
        assert_eq!(sanitized("!!!"), "");
        assert_eq!(sanitized(&"a".repeat(300)).len(), 200);
    }
}
