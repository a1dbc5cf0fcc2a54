//! True and invented captions, by hand and by rules.

mod corpus;

use super::{Facts, FindingReason};

fn facts(facts: &[&str]) -> Facts {
    let mut known = Facts::default();
    for fact in facts {
        known.add(fact);
    }
    known
}

fn reasons(known: &Facts, text: &str) -> Vec<FindingReason> {
    known.check(text).into_iter().map(|finding| finding.reason).collect()
}

/// Each of these facts covers each of the captions beside it.
const TRUE: &[(&str, &[&str])] = &[
    (
        "Brunch for 9 euros at https://www.cafe-luna.de/brunch/ every Sunday",
        &[
            "Only €9.00!",
            "Nur 9,00 € am Sonntag",
            "EUR 9 each",
            "See cafe-luna.de",
            "Book: http://cafe-luna.de/brunch?utm=1#top",
            "www.cafe-luna.de/brunch.",
            "brunch on Sundays",
            "Just 9 Euro, sunday",
        ],
    ),
    (
        "Opening on Saturday, 5 December 2026 from 10am to 6:30 pm",
        &[
            "Join us December 5!",
            "5.12.2026, 10 Uhr",
            "Le samedi 5 décembre",
            "2026-12-05 at 10:00",
            "12/5/2026",
            "05/12/26",
            "Saturday, Dec 5th, 18:30",
            "Sábado 5 de diciembre de 2026",
            "Sabato, 5 dicembre 2026 alle 10",
            "zaterdag 5 december om 10 uur",
            "See you in 2026",
            "10h–18h30",
            "10am - 6.30pm",
            "Am Samstag, den 5. Dezember, von 10 bis 18:30 Uhr",
            "in December 2026",
        ],
    ),
    (
        "Call +49 30 1234567 or write to hello@luna.example.com, 20% off, 2 for 1 on Friday",
        &[
            "030 1234567",
            "(030) 123-45-67",
            "Ruf an: +49 (0)30 / 123 45 67",
            "20 percent off",
            "20 Prozent Rabatt",
            "20 % off on Friday",
            "2-for-1",
            "mail hello@luna.example.com",
            "2 für 1 am Freitag",
        ],
    ),
    (
        "Free entry, half price drinks, tickets $1,250.50, the gala is tomorrow at midnight with @luna.bar",
        &[
            "Eintritt gratis",
            "Entrée gratuite demain",
            "USD 1250.50",
            "1.250,50 $",
            "50% on drinks",
            "Drinks zum halben Preis",
            "mañana a medianoche con @Luna.Bar",
            "morgen um 0:00",
            "0 €",
        ],
    ),
    (
        "Workshop 12 to 14 March, 50 cents a cup, 1,000 seats, since 1998, at noon",
        &[
            "12.–14. März",
            "12-14 March",
            "14 March",
            "$0.50 a cup",
            "50 ct? 50 cents",
            "seit 1998",
            "12:00",
            "12 Uhr mittags? mezzogiorno",
        ],
    ),
    (
        "plain words",
        &[
            "Feel free to come by, any time!",
            "Sugar-free and gluten-free bakes",
            "We have 2000 happy customers and 1950 trees",
            "Version 1.5 with 24/7 support",
            "Our no. 1 in town. It is lovely.",
            "Made of 3/4 wood, 20 cm wide, 10x more fun",
            "e.g. this one, i.e. that one, etc. and so on.",
            "You may have a seat; the march of the sea",
            "Nice.We love it",
        ],
    ),
];

#[test]
fn what_stands_in_the_facts_passes_in_every_form() {
    for (fact, captions) in TRUE {
        let known = facts(&[fact]);
        for caption in *captions {
            let findings = known.check(caption);
            assert_eq!(findings, [], "{caption:?} by {fact:?}");
        }
    }
}

#[test]
fn what_stands_in_no_fact_is_found() {
    let known = facts(&[
        "Brunch for 9 euros on Saturday, 5 December 2026 from 10am to 6pm, call 030 1234567, https://luna.de/brunch, @luna, 20% off, 2 for 1",
    ]);
    for (caption, reason) in [
        ("Only 8 euros", FindingReason::UnverifiedPrice),
        ("Only $9", FindingReason::UnverifiedPrice),
        ("€9.50", FindingReason::UnverifiedPrice),
        ("9 % off", FindingReason::UnverifiedPrice),
        ("25% off", FindingReason::UnverifiedPrice),
        ("3 for 2", FindingReason::UnverifiedPrice),
        ("free coffee", FindingReason::UnverifiedPrice),
        ("kostenlos dazu", FindingReason::UnverifiedPrice),
        ("half price", FindingReason::UnverifiedPrice),
        ("9 million dollars", FindingReason::UnverifiedPrice),
        ("6 December", FindingReason::UnverifiedDate),
        ("5 November", FindingReason::UnverifiedDate),
        ("5 December 2027", FindingReason::UnverifiedDate),
        ("on Sunday", FindingReason::UnverifiedDate),
        ("Sunday, 5 December", FindingReason::UnverifiedDate),
        ("2025-12-05", FindingReason::UnverifiedDate),
        ("06.12.2026", FindingReason::UnverifiedDate),
        ("since 1998", FindingReason::UnverifiedDate),
        ("tomorrow", FindingReason::UnverifiedDate),
        ("today's bread", FindingReason::UnverifiedDate),
        ("nächste Woche", FindingReason::UnverifiedDate),
        ("this weekend", FindingReason::UnverifiedDate),
        ("at 11am", FindingReason::UnverifiedTime),
        ("10pm", FindingReason::UnverifiedTime),
        ("ab 19 Uhr", FindingReason::UnverifiedTime),
        ("à 19h30", FindingReason::UnverifiedTime),
        ("at noon", FindingReason::UnverifiedTime),
        ("minuit", FindingReason::UnverifiedTime),
        ("call 030 7654321", FindingReason::UnverifiedPhone),
        ("+1 (555) 010-9999", FindingReason::UnverifiedPhone),
        ("luna.com", FindingReason::UnverifiedLink),
        ("https://luna.de/brunch/late", FindingReason::UnverifiedLink),
        ("hi@luna.de", FindingReason::UnverifiedLink),
        ("www.luna-brunch.de", FindingReason::UnverifiedLink),
        ("ＷＷＷ．luna-brunch.de", FindingReason::UnverifiedLink),
        ("@lunabar", FindingReason::UnverifiedHandle),
        ("@luna@social.example", FindingReason::UnverifiedHandle),
    ] {
        assert_eq!(reasons(&known, caption), [reason], "{caption:?}");
    }
}

#[test]
fn every_finding_has_its_fragment() {
    let known = facts(&["Coffee 3 €"]);
    let found =
        known.check("Coffee 3 €, cake 4,50 € — book at cake.example.com/now, call 030 1234567!");
    let shown: Vec<_> = found.iter().map(|it| (it.reason, it.fragment.as_str())).collect();
    assert_eq!(
        shown,
        [
            (FindingReason::UnverifiedLink, "cake.example.com/now"),
            (FindingReason::UnverifiedPrice, "4,50 €"),
            (FindingReason::UnverifiedPhone, "030 1234567"),
        ]
    );
}

#[test]
fn what_must_not_be_said_is_found_as_whole_words() {
    let mut known = facts(&[]);
    known.never_say("best café");
    known.never_say("cheap");
    assert_eq!(reasons(&known, "The BEST  Cafe in town"), [FindingReason::NeverSay]);
    assert_eq!(reasons(&known, "Cheap!"), [FindingReason::NeverSay]);
    assert_eq!(reasons(&known, "cheaper than ever; the bestcafe"), []);
}

#[test]
fn a_username_may_be_mentioned() {
    let mut known = facts(&[]);
    known.add_username("Luna.Bar");
    known.add_username("ada.bsky.social");
    assert_eq!(reasons(&known, "Thanks @luna.bar and ada.bsky.social and @ada.bsky.social"), []);
}

#[test]
fn any_text_is_read_without_a_panic() {
    use rand::{RngExt, SeedableRng};
    let pieces: Vec<&str> = "5 12 2026 . , - / : € $ % @ + ( ) free for may März h uhr am pm www. .de :// ß İ ﬁ ½ ٣ to Monday 1.000 \u{200b} 😀 next week 24"
        .split(' ').collect();
    let mut random = rand::rngs::StdRng::seed_from_u64(7);
    for _ in 0..20_000 {
        let length = random.random_range(0..12);
        let mut text = String::new();
        for _ in 0..length {
            text.push_str(pieces[random.random_range(0..pieces.len())]);
            if random.random_bool(0.5) {
                text.push(' ');
            }
        }
        let known = facts(&[&text]);
        // A text covers its own claims.
        assert_eq!(known.check(&text), [], "{text:?}");
    }
}
