//! Texts that are equal, near and far, in seven languages, and the measure once more in other words.

use std::collections::HashSet;

use rand::{RngExt, SeedableRng, rngs::SmallRng};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::{Match, TextPrint, with_files};
use fanfare_core::error::refusal::Likeness;

fn compared(one: &str, other: &str) -> Option<Match> {
    let (one, other) = (TextPrint::of(one), TextPrint::of(other));
    let found = one.compare(&other);
    assert_eq!(other.compare(&one), found, "either way round");
    found
}

const EQUAL: Option<Match> = Some(Match::Equal);
const NEAR: Option<Match> = Some(Match::Near);
const FAR: Option<Match> = None;

/// Two texts without links, and how much alike they are. The shares are counted by hand: common sequences of three
/// characters, and all of them.
const TEXTS: &[(&str, &str, Option<Match>)] = &[
    // English. One of many words differs: 83 of 93; one of a few: 43 of 56, 29 of 39; hardly any is common: 7 of 48.
    (
        "Our spring sale begins today at nine in all our shops!",
        "our spring SALE begins today, at nine, in all our shops",
        EQUAL,
    ),
    (
        "Our spring sale begins today at nine in all our shops in the old town, and coffee is free until noon.",
        "Our spring sale begins today at ten in all our shops in the old town, and coffee is free until noon.",
        NEAR,
    ),
    (
        "Our spring sale begins today at nine in all our shops!",
        "Our spring sale begins tomorrow at nine in all our shops!",
        FAR,
    ),
    ("Meet our new colleague Ada on Monday", "Meet our new colleague Bob on Monday", FAR),
    ("Our spring sale begins today", "Our autumn sale ended yesterday", FAR),
    // Short ones are equal or far.
    ("New at 9!", "new at 9", EQUAL),
    ("New at 9", "New at 8", FAR),
    ("🎉🎉🎉 Launch day 🎉🎉🎉", "Launch day", EQUAL),
    ("abcdefghijk", "abcdefghijkl", FAR),
    // German: 46 of 120.
    (
        "Heute öffnen wir unsere neue Bäckerei in der Größenstraße, kommt vorbei und probiert das Brot!",
        "Heute öffnen wir unsere neue Bäckerei in der GRÖßENSTRAßE – kommt vorbei und probiert das Brot 🥖",
        EQUAL,
    ),
    (
        "Heute öffnen wir unsere neue Bäckerei in der Größenstraße, kommt vorbei und probiert das Brot!",
        "Heute schließen wir unsere alte Bäckerei in der Größenstraße, danke für die schönen Jahre!",
        FAR,
    ),
    // French: 80 of 94, 24 of 140.
    (
        "Notre équipe s’agrandit : nous cherchons une personne passionnée par le café, à Lyon dès septembre.",
        "Notre équipe s'agrandit: nous cherchons une personne passionnée par le cafe\u{301} à Lyon, dès octobre.",
        NEAR,
    ),
    (
        "Notre équipe s’agrandit : nous cherchons une personne passionnée par le café, à Lyon dès septembre.",
        "Notre équipe a fêté ses dix ans hier soir à Lyon, merci à tous ceux qui sont venus !",
        FAR,
    ),
    // Russian: 18 of 124.
    (
        "Сегодня мы открываем новый магазин на Тверской улице, приходите за подарками!",
        "СЕГОДНЯ мы открываем новый магазин на Тверской улице — приходите за подарками 🎁",
        EQUAL,
    ),
    (
        "Сегодня мы открываем новый магазин на Тверской улице, приходите за подарками!",
        "Завтра мы закрываем старый склад на Невском проспекте, спасибо за покупки!",
        FAR,
    ),
    // Arabic: 18 of 111.
    (
        "نفتتح اليوم متجرنا الجديد في وسط المدينة، تفضلوا بزيارتنا واستمتعوا بالقهوة",
        "نفتتح اليوم متجرنا الجديد في وسط المدينة تفضلوا بزيارتنا واستمتعوا بالقهوة!!",
        EQUAL,
    ),
    (
        "نفتتح اليوم متجرنا الجديد في وسط المدينة، تفضلوا بزيارتنا واستمتعوا بالقهوة",
        "نغلق غدا متجرنا القديم في شمال المدينة، شكرا لكم على السنوات الجميلة",
        FAR,
    ),
    // Chinese, which has no spaces: 45 of 51, 22 of 28, none of 31.
    (
        "春季大促销今天上午九点在所有门店开始，欢迎大家光临选购！",
        "春季大促销今天上午九点在所有门店开始，欢迎大家光临选购🎉🎉",
        EQUAL,
    ),
    (
        "春季大促销今天上午九点在所有门店开始，欢迎大家光临选购，凭会员卡另有精美礼品赠送，数量有限，先到先得",
        "春季大促销明天上午九点在所有门店开始，欢迎大家光临选购，凭会员卡另有精美礼品赠送，数量有限，先到先得",
        NEAR,
    ),
    (
        "春季大促销今天上午九点在所有门店开始，欢迎大家光临选购！",
        "春季大促销明天上午九点在所有门店开始，欢迎大家光临选购！",
        FAR,
    ),
    ("春季大促销今天上午九点在所有门店开始", "秋季新品发布会昨天下午在北京结束了", FAR),
    ("今天开门！", "今天开门 🎉", EQUAL),
    ("今天开门", "今天关门", FAR),
    // Japanese, with letters of half the width: 1 of 54.
    (
        "本日、新しいカフェが駅前にオープンしました。ぜひお越しください。",
        "本日、新しいｶﾌｪが駅前にオープンしました！ぜひお越しください☕️",
        EQUAL,
    ),
    (
        "本日、新しいカフェが駅前にオープンしました。ぜひお越しください。",
        "来週、古い本屋が閉店します。長い間ありがとうございました。",
        FAR,
    ),
    // The border: 16 of 20 is near, 15 of 21 is not.
    ("abcdefghijklmnopqrst", "abcdefghijklmnopqrzt", NEAR),
    ("abcdefghijklmnopqrst", "abcdefghijklmnopqzst", FAR),
    // Nothing at all.
    ("", "🎉❤️", Some(Match::Nothing)),
    ("", "Something", FAR),
];

#[test]
fn texts_are_equal_near_or_far_in_any_language() {
    for (one, other, expected) in TEXTS {
        assert_eq!(compared(one, other), *expected, "{one} | {other}");
        assert_eq!(in_other_words(one, other), *expected, "{one} | {other}");
    }
}

#[test]
fn links_that_differ_keep_texts_apart() {
    let sale = "Our spring sale begins today";
    for (one, other, expected) in [
        ("https://a.example/b?utm=1", "https://A.example/b#top", EQUAL),
        ("https://example.com/b", "example.com/b", EQUAL),
        ("https://a.example/b", "https://a.example/c", FAR),
        ("https://a.example/b", "", NEAR),
        ("https://a.example/b https://c.example", "https://c.example https://a.example/b", EQUAL),
        ("https://a.example/b https://c.example", "https://a.example/b", FAR),
    ] {
        let with = |link: &str| format!("{sale} {link}");
        assert_eq!(compared(&with(one), &with(other)), expected, "{one} | {other}");
    }
    // Without words the links say all.
    for (one, other, expected) in [
        ("https://a.example/b", "👉 https://a.example/b?x=1", EQUAL),
        ("https://a.example/b", "https://a.example/c", FAR),
        ("https://a.example/b", "", FAR),
        ("https://a.example/b", "Short https://a.example/b", FAR),
    ] {
        assert_eq!(compared(one, other), expected, "{one} | {other}");
    }
}

#[test]
fn files_make_equal_texts_exact_and_alone_decide_where_there_is_no_text() {
    let files = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let (none, one, two) = (files(&[]), files(&["a"]), files(&["a", "b"]));
    for (texts, mine, theirs, expected) in [
        (Match::Equal, &none, &none, Some(Likeness::Exact)),
        (Match::Equal, &two, &two, Some(Likeness::Exact)),
        (Match::Equal, &one, &two, Some(Likeness::Near)),
        (Match::Near, &one, &one, Some(Likeness::Near)),
        (Match::Nothing, &one, &one, Some(Likeness::Exact)),
        (Match::Nothing, &one, &two, None),
        (Match::Nothing, &none, &none, None),
    ] {
        assert_eq!(with_files(texts, mine, theirs), expected, "{texts:?} {mine:?} {theirs:?}");
    }
}

/// The rule once more, for texts without links: plain sets of texts in place of sorted numbers.
fn in_other_words(one: &str, other: &str) -> Option<Match> {
    let form = |text: &str| {
        let lower = text.nfkc().collect::<String>().to_lowercase();
        let kept = |sign: char| {
            let picture = ('\u{fe00}'..='\u{fe0f}').contains(&sign);
            (sign.is_alphanumeric() || is_combining_mark(sign)) && !picture
        };
        let words = lower.split(|sign| !kept(sign)).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ").chars().take(2_000).collect::<String>()
    };
    let (one, other) = (form(one), form(other));
    if one.is_empty() || other.is_empty() {
        return (one == other).then_some(Match::Nothing);
    }
    if one == other {
        return EQUAL;
    }
    let thirds = |text: &str| -> HashSet<String> {
        let signs: Vec<char> = text.chars().collect();
        (2..signs.len()).map(|end| signs[end - 2..=end].iter().collect()).collect()
    };
    if one.chars().count().min(other.chars().count()) < 12 {
        return FAR;
    }
    let (one, other) = (thirds(&one), thirds(&other));
    let (common, all) = (one.intersection(&other).count(), one.union(&other).count());
    (5 * common >= 4 * all).then_some(Match::Near)
}

#[test]
fn changed_texts_compare_as_in_the_plain_words_of_the_rule() {
    let mut rng = SmallRng::seed_from_u64(7);
    let mut seen = [0, 0, 0];
    for _ in 0..2_000 {
        let (text, _, _) = TEXTS[rng.random_range(0..TEXTS.len())];
        let mut signs: Vec<char> = text.chars().collect();
        for _ in 0..rng.random_range(0..6) {
            let at = rng.random_range(0..=signs.len());
            let sign = ['a', ' ', '字', '🎉', '!', 'Ж'][rng.random_range(0..6)];
            match rng.random_range(0..2) {
                0 if at < signs.len() => signs[at] = sign,
                _ => signs.insert(at, sign),
            }
        }
        let changed: String = signs.into_iter().collect();
        let found = compared(text, &changed);
        assert_eq!(found, in_other_words(text, &changed), "{text} | {changed}");
        seen[found.map_or(2, |found| usize::from(found != Match::Equal))] += 1;
    }
    assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
}
