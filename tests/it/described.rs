//! What connectors send and simulated networks answer is what vendors describe, and a misspelt name is noticed.

use std::collections::BTreeSet;

use fanfare_tests::{
    Exchange, tour,
    vendors::{Accepted, Finding, Judge, judged, misspell, operations, removed},
};

/// The least part of misspelt names, in a thousand, that is noticed.
const LEAST: usize = 990;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_is_as_described_and_a_misspelt_name_is_noticed() {
    let tour = Box::pin(tour::drive()).await;
    let judges = Judge::kept();
    let mut wrong = Vec::new();

    let findings = judged(&judges, &tour.exchanges);
    let verdict = Accepted::read().judge(&findings, &["facts"]);
    wrong.extend(verdict.open.iter().map(ToString::to_string));
    verdict.idle.iter().for_each(|entry| eprintln!("accepted, but not met any more: {entry}"));

    wrong.extend(removed(&tour.exchanges));

    let noticed = Box::pin(misspell(&tour)).await;
    let (total, missed) = (noticed.total(), noticed.missed.len());
    eprintln!(
        "{} requests; {total} names misspelt: {} refused by facts, {} by handlers, {} found by the check alone, {missed} missed",
        tour.exchanges.len(),
        noticed.refused.len(),
        noticed.rejected.len(),
        noticed.passed.len()
    );
    for (network, names) in noticed.passed_by_network() {
        let names: Vec<_> =
            names.iter().map(|name| format!("{}: {}", name.operation, name.place)).collect();
        eprintln!("{network} takes names that it does not know: {}", names.join("; "));
    }
    noticed.missed.iter().for_each(|name| eprintln!("missed: {name}"));
    if (total - missed) * 1_000 < total * LEAST {
        wrong.extend(noticed.missed.iter().map(|name| format!("nobody noticed: {name}")));
    }
    eprintln!("{} operations were used", operations(&judges, &tour.exchanges).len());
    assert!(wrong.is_empty(), "{} findings:\n{}", wrong.len(), wrong.join("\n"));
    assert!(total > 500, "only {total} names were found");
}

fn asked(query: &str, body: &str) -> Exchange {
    Exchange {
        network: "facebook".into(),
        method: "POST".into(),
        path: "v26.0/1/feed".into(),
        query: query.into(),
        headers: vec![("content-type".into(), "application/x-www-form-urlencoded".into())],
        body: body.into(),
        status: 200,
        answer: Vec::new(),
        root: "/shared/facebook".into(),
    }
}

#[test]
fn what_meta_removed_is_found_in_requests() {
    assert!(removed(&[asked("fields=id,likes.limit(1)", "message=Hello&methods=1")]).is_empty());
    let gone = [
        ("ids=1,2", ""),
        ("fields=id,likes.as(hearts)", ""),
        ("date_format=U", ""),
        ("", "method=delete"),
        ("callback=go", ""),
        ("", "is_async=true"),
    ];
    for (query, body) in gone {
        assert_eq!(removed(&[asked(query, body)]).len(), 1, "{query}{body}");
    }
}

const OLD: &str = r#"
[[accepted]]
network = "x"
by = "facts"
operation = "create *"
side = "request"
finding = "body: * is not known"
reason = "seen in the vendor's pages"
date = "2026-05-01"
"#;

#[test]
fn an_acceptance_covers_what_it_names_and_grows_old() {
    let finding = |what: &str| Finding {
        network: "x".into(),
        by: "facts",
        operation: "create post".into(),
        side: "request",
        what: what.into(),
    };
    let accepted = Accepted::parse(OLD);
    let (met, other) = (finding("body: poll.x is not known"), finding("query: a is not known"));
    let verdict = accepted.judge(&BTreeSet::from([met, other.clone()]), &["facts"]);
    assert_eq!((verdict.open, verdict.idle.len()), (vec![other], 0));
    assert_eq!(accepted.judge(&BTreeSet::new(), &["facts"]).idle.len(), 1);
    assert!(accepted.judge(&BTreeSet::new(), &["package"]).idle.is_empty());
    assert!(accepted.outdated("2026-10-28").is_empty());
    assert_eq!(accepted.outdated("2026-10-29").len(), 1);
}
