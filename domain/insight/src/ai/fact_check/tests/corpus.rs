//! Captions that rules make: in seven languages, true ones and ones with something invented, of every class.

use super::{Facts, FindingReason};

/// The ways of a language: sentences with a place for the claim.
struct Language {
    price: [&'static str; 3],
    date: [&'static str; 3],
    time: [&'static str; 3],
    contact: [&'static str; 3],
    plain: [&'static str; 3],
    months: [&'static str; 12],
    weekdays: [&'static str; 7],
    /// The day of a month as it is written: `{d}`, `{m}`.
    day: &'static str,
}

#[rustfmt::skip]
const LANGUAGES: [Language; 7] = [
    Language {
        price: ["Now for {} only!", "Get yours: {}", "It costs {} and not more."],
        date: ["Join us on {}.", "Open from {} on", "Save the date: {}!"],
        time: ["Doors open at {}.", "We start at {}", "Come by at {}, please!"],
        contact: ["Find us: {}", "Write to {} now.", "More: {}!"],
        plain: ["We bake with love.", "Come and see our 3 new rooms.", "A place for everyone"],
        months: ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"],
        weekdays: ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
        day: "{m} {d}",
    },
    Language {
        price: ["Jetzt für nur {}!", "Hol dir deins: {}", "Es kostet {} und nicht mehr."],
        date: ["Komm vorbei am {}.", "Geöffnet ab {}", "Merk dir: {}!"],
        time: ["Einlass ist um {}.", "Los geht es um {}", "Komm gern um {}!"],
        contact: ["Du findest uns hier: {}", "Schreib an {} heraus.", "Mehr: {}!"],
        plain: ["Wir backen mit Liebe.", "Sieh dir unsere 3 neuen Räume an.", "Ein Ort für alle"],
        months: ["Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"],
        weekdays: ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"],
        day: "{d}. {m}",
    },
    Language {
        price: ["Seulement {} !", "À toi pour {}", "Cela coûte {}, pas plus."],
        date: ["Rendez-vous le {}.", "Ouvert dès le {}", "À noter : {} !"],
        time: ["Ouverture à {}.", "On commence à {}", "Viens à {} !"],
        contact: ["Retrouve-nous : {}", "Écris à {} vite.", "Plus : {} !"],
        plain: ["Nous cuisinons avec amour.", "Viens voir nos 3 nouvelles salles.", "Un lieu pour tous"],
        months: ["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"],
        weekdays: ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
        day: "{d} {m}",
    },
    Language {
        price: ["¡Solo {}!", "Llévatelo por {}", "Cuesta {} y nada más."],
        date: ["Te esperamos el {}.", "Abierto desde el {}", "Apunta: ¡{}!"],
        time: ["Abrimos a las {}.", "Empezamos a las {}", "¡Ven a las {}!"],
        contact: ["Encuéntranos: {}", "Escribe a {} ya.", "Más: {}!"],
        plain: ["Cocinamos con amor.", "Ven a ver nuestras 3 salas nuevas.", "Un lugar para todos"],
        months: ["enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"],
        weekdays: ["lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"],
        day: "{d} de {m}",
    },
    Language {
        price: ["Solo {}!", "Tuo a {}", "Costa {} e non di più."],
        date: ["Ti aspettiamo il {}.", "Aperto dal {}", "Segna: {}!"],
        time: ["Apriamo alle {}.", "Si comincia alle {}", "Vieni alle {}!"],
        contact: ["Ci trovi qui: {}", "Scrivi a {} subito.", "Altro: {}!"],
        plain: ["Cuciniamo con amore.", "Vieni a vedere le nostre 3 sale nuove.", "Un luogo di tutti"],
        months: ["gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"],
        weekdays: ["lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"],
        day: "{d} {m}",
    },
    Language {
        price: ["Só {}!", "Leva já: {}", "Custa {} e nada mais."],
        date: ["Esperamos-te no dia {}.", "Aberto desde {}", "Anota: {}!"],
        time: ["Abrimos às {}.", "Começamos às {}", "Vem às {}!"],
        contact: ["Encontra-nos: {}", "Escreve para {} agora.", "Mais: {}!"],
        plain: ["Cozinhamos com amor.", "Vem ver as nossas 3 salas novas.", "Um lugar de todos"],
        months: ["janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro"],
        weekdays: ["segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado", "domingo"],
        day: "{d} de {m}",
    },
    Language {
        price: ["Nu slechts {}!", "Pak hem: {}", "Het kost {} en niets meer."],
        date: ["Kom langs op {}.", "Open vanaf {}", "Zet in je agenda: {}!"],
        time: ["De deur gaat open om {}.", "We beginnen om {}", "Kom om {}!"],
        contact: ["Je vindt ons hier: {}", "Schrijf naar {} toe.", "Meer: {}!"],
        plain: ["Wij bakken met liefde.", "Kom onze 3 nieuwe zalen zien.", "Een plek van iedereen"],
        months: ["januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober", "november", "december"],
        weekdays: ["maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"],
        day: "{d} {m}",
    },
];

/// The n-th of some values, around and around.
fn pick<T: Clone>(values: &[T], nth: usize) -> T {
    values[nth % values.len()].clone()
}

fn prices(nth: usize, amount: usize) -> String {
    let forms = [
        format!("€{amount}"),
        format!("{amount} €"),
        format!("{amount},00 €"),
        format!("{amount} Euro"),
        format!("EUR {amount}.00"),
        format!("{amount}%"),
        format!("${amount}"),
        format!("{amount} %"),
        format!("£{amount}.00"),
        format!("{amount} CHF"),
        format!("1.{amount:03} €"),
        format!("1 {amount:03} €"),
    ];
    pick(&forms, nth)
}

fn day(language: &Language, month: usize, day: usize) -> String {
    let month = language.months[month];
    language.day.replace("{d}", &day.to_string()).replace("{m}", month)
}

fn dates(language: &Language, nth: usize, of: (usize, usize)) -> String {
    let (month, number) = of;
    let forms = [
        day(language, month, number),
        format!("{} 2027", day(language, month, number)),
        format!("2027-{:02}-{number:02}", month + 1),
        format!("{number}.{}.2027", month + 1),
        language.weekdays[number % 7].to_owned(),
        format!("{}/{number}/2027", month + 1),
        (1_950 + number).to_string(),
        format!("{} {}", language.months[month], 2_000 + number),
    ];
    pick(&forms, nth)
}

fn times(nth: usize, hour: usize, minute: usize) -> String {
    let half = if hour < 12 { "am" } else { "pm" };
    let twelve = if hour.is_multiple_of(12) { 12 } else { hour % 12 };
    let forms = [
        format!("{hour}:{minute:02}"),
        format!("{twelve}:{minute:02} {half}"),
        format!("{hour}.{minute:02} Uhr"),
        format!("{hour}h{minute:02}"),
        format!("{twelve}.{minute:02}{half}"),
    ];
    pick(&forms, nth)
}

fn contacts(nth: usize, name: &str, number: usize) -> (String, FindingReason) {
    let forms = [
        (format!("https://www.{name}.com/p/{number}"), FindingReason::UnverifiedLink),
        (format!("{name}.de"), FindingReason::UnverifiedLink),
        (format!("post@{name}.fr"), FindingReason::UnverifiedLink),
        (format!("@{name}_{number}"), FindingReason::UnverifiedHandle),
        (format!("+49 30 {}", 2_000_000 + number * 7_919), FindingReason::UnverifiedPhone),
        (format!("(040) {}-{:04}", 300 + number, number * 37), FindingReason::UnverifiedPhone),
    ];
    pick(&forms, nth)
}

/// A claim, and another of the same class that is not true.
fn claims(
    language: &Language,
    class: usize,
    nth: usize,
) -> (String, String, FindingReason, [&'static str; 3]) {
    match class {
        0 => {
            let (is, other) = (prices(nth, 11 + nth % 80), prices(nth, 12 + nth % 80));
            (is, other, FindingReason::UnverifiedPrice, language.price)
        }
        1 => {
            let (month, number) = (nth * 5 % 12, 13 + nth % 14);
            let is = dates(language, nth, (month, number));
            (
                is,
                dates(language, nth, (month, number + 1)),
                FindingReason::UnverifiedDate,
                language.date,
            )
        }
        2 => {
            let (hour, minute) = (7 + nth % 15, nth * 10 % 50);
            let is = times(nth, hour, minute);
            (is, times(nth, hour, minute + 5), FindingReason::UnverifiedTime, language.time)
        }
        _ => {
            let (is, reason) = contacts(nth, "luna-bar", 100 + nth);
            (is, contacts(nth, "lunabar", 900 - nth).0, reason, language.contact)
        }
    }
}

#[test]
fn no_invented_value_passes_and_no_true_one_is_dropped() {
    let (mut checked, mut dropped, mut passed) = (0, Vec::new(), Vec::new());
    for language in &LANGUAGES {
        for class in 0..4 {
            for nth in 0..60 {
                let (is, other, reason, sentences) = claims(language, class, nth);
                let sentence = |claim: &str, place: usize| {
                    let said = pick(&sentences, place).replace("{}", claim);
                    format!("{} {said} #luna", pick(&language.plain, place))
                };
                let mut facts = Facts::default();
                facts.add(&sentence(&is, nth + 1));
                let (truth, lie) = (sentence(&is, nth), sentence(&other, nth));
                if !facts.check(&truth).is_empty() {
                    dropped.push((truth, facts.check(&sentence(&is, nth))));
                }
                let found = facts.check(&lie);
                if found.iter().all(|finding| finding.reason != reason) {
                    passed.push((sentence(&is, nth + 1), lie, found));
                }
                checked += 2;
            }
        }
    }
    assert!(checked >= 2_000, "{checked}");
    assert!(passed.is_empty(), "{} pass: {passed:#?}", passed.len());
    assert!(dropped.is_empty(), "{} are dropped: {dropped:#?}", dropped.len());
}

#[test]
fn a_caption_is_checked_in_a_millisecond() {
    let mut facts = Facts::default();
    for nth in 0..50 {
        facts.add(&format!(
            "Cake {nth} costs {nth}.50 € until {} May at {}:15",
            1 + nth % 28,
            nth % 24
        ));
    }
    let long = "Come by on 5 May at 17:15 for cake at 7.50 €, call 030 1234567! ".repeat(30);
    let begun = std::time::Instant::now();
    for _ in 0..20 {
        assert!(!facts.check(&long).is_empty());
    }
    // An unoptimized build and a busy machine have room; a search that grows with the square of the text has not.
    assert!(begun.elapsed() < std::time::Duration::from_secs(4), "{:?}", begun.elapsed());
}
