//! Refused targets, told by listeners that must stay alone.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{io::AsyncWriteExt, process::Command};
use url::Url;

use super::{ADDRESSES_ONLY, CLOSED, Canary, OPEN, Outcome, Server, answer, client};
use crate::{Client, ErrorKind, Policy, policy::Rules, resolver::Lookup};

/// Ways to write 127.0.0.1, or an address that reaches it.
const LOOPBACK: &[&str] = &[
    "127.0.0.1",
    "127.1",
    "127.0.0.1.",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "%31%32%37.0.0.1",
    "１２７.0.0.1",
    "0.0.0.0",
    "0",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "localhost",
    "LOCALHOST",
];

async fn kind(client: &Client, url: Url) -> Option<ErrorKind> {
    client.get(url).send().await.err().map(|error| error.kind)
}

#[tokio::test]
async fn no_spelling_of_a_private_address_is_connected_to() -> Outcome {
    let canary = Canary::at(Ipv4Addr::LOCALHOST).await?;
    for rules in [CLOSED, ADDRESSES_ONLY] {
        let client = client(rules)?;
        for host in LOOPBACK {
            let url = Url::parse(&format!("http://{host}:{}/", canary.address.port()))?;
            assert_eq!(
                client.check(&url).await.err().map(|error| error.kind),
                Some(ErrorKind::Blocked),
                "{host}"
            );
            assert_eq!(kind(&client, url).await, Some(ErrorKind::Blocked), "{host}");
        }
        assert_eq!(canary.connections().await?, 0);
    }
    let open = client(OPEN)?;
    for host in ["127.0.0.1", "2130706433", "localhost", "[::ffff:127.0.0.1]"] {
        let url = Url::parse(&format!("http://{host}:{}/", canary.address.port()))?;
        assert!(kind(&open, url).await.is_some(), "{host}");
        assert_eq!(canary.connections().await?, 1, "the canary would have seen {host}");
    }
    Ok(())
}

#[tokio::test]
async fn the_ipv6_loopback_is_not_connected_to() -> Outcome {
    // A machine without IPv6 has no such listener; that the address is refused is seen all the same.
    let canary = Canary::at(Ipv6Addr::LOCALHOST).await.ok();
    let port = canary.as_ref().map_or(8080, |canary| canary.address.port());
    let client = client(ADDRESSES_ONLY)?;
    for host in ["[::1]", "[0:0:0:0:0:0:0:1]", "[::]"] {
        let url = Url::parse(&format!("http://{host}:{port}/"))?;
        assert_eq!(kind(&client, url).await, Some(ErrorKind::Blocked), "{host}");
    }
    if let Some(canary) = canary {
        assert_eq!(canary.connections().await?, 0);
    }
    Ok(())
}

#[tokio::test]
async fn scheme_port_and_userinfo_are_judged_without_connecting() -> Outcome {
    let refused = [
        ("http://example.com/", "https"),
        ("ftp://example.com/", "https"),
        ("file:///etc/passwd", "https"),
        ("https://example.com:8443/", "ports"),
        ("https://example.com:22/", "ports"),
        ("https://user@example.com/", "user name"),
        ("https://:secret@example.com/", "user name"),
        ("https://10.0.0.1/", "private"),
        ("https://[fd00::1]/", "private"),
    ];
    let client = Client::new(Policy::default())?;
    for (url, why) in refused {
        let url = Url::parse(url)?;
        for error in [client.check(&url).await.err(), client.get(url.clone()).send().await.err()] {
            let error = error.ok_or("it was let through")?;
            assert_eq!(error.kind, ErrorKind::Blocked, "{url}");
            assert!(error.to_string().contains(why), "{error}");
            assert!(!error.maybe_sent());
        }
    }
    assert!(client.check(&Url::parse("https://93.184.216.34/")?).await.is_ok());
    assert!(client.check(&Url::parse("https://93.184.216.34:80/")?).await.is_ok());
    let open = Client::new(Policy { allow_private: true })?;
    assert!(open.check(&Url::parse("http://10.0.0.1:8080/")?).await.is_ok());
    assert!(open.check(&Url::parse("http://user@10.0.0.1/")?).await.is_err());
    Ok(())
}

#[tokio::test]
async fn trust_holds_for_exactly_one_origin() -> Outcome {
    let server = Server::answering(answer(200, "", "here")).await?;
    let canary = Canary::at(Ipv4Addr::LOCALHOST).await?;
    let (ours, theirs) = (server.url.port().ok_or("no port")?, canary.address.port());
    for rules in [CLOSED, ADDRESSES_ONLY] {
        let client = server.client(rules)?;
        assert_eq!(client.get(server.at("/any/path")?).send().await?.text(), "here");
        let others = [
            format!("http://127.0.0.1:{theirs}/"),
            format!("https://127.0.0.1:{ours}/"),
            format!("http://localhost:{ours}/"),
            format!("http://user@127.0.0.1:{ours}/"),
        ];
        for other in others {
            assert_eq!(
                kind(&client, Url::parse(&other)?).await,
                Some(ErrorKind::Blocked),
                "{other}"
            );
        }
        assert_eq!(canary.connections().await?, 0);
    }
    Ok(())
}

#[tokio::test]
async fn a_connection_made_under_trust_serves_no_other_client() -> Outcome {
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = connections.clone();
    let server = Server::start(move |mut wire| {
        counter.fetch_add(1, Ordering::SeqCst);
        async move {
            loop {
                wire.request().await?;
                wire.answer(200, "", "kept alive").await?;
            }
        }
    })
    .await?;
    let by_name =
        Url::parse(&format!("http://localhost:{}/", server.url.port().ok_or("no port")?))?;
    let plain = client(ADDRESSES_ONLY)?;
    let trusting = plain.trusting(std::slice::from_ref(&by_name));
    for _ in 0..3 {
        assert_eq!(trusting.get(by_name.clone()).send().await?.status, 200);
        assert_eq!(kind(&plain, by_name.clone()).await, Some(ErrorKind::Blocked));
    }
    assert_eq!(trusting.trusting(&[]).get(by_name).send().await?.status, 200);
    assert_eq!(connections.load(Ordering::SeqCst), 1, "the connection was alive all the time");
    Ok(())
}

#[tokio::test]
async fn redirects_are_judged_hop_by_hop() -> Outcome {
    let canary = Canary::at(Ipv4Addr::LOCALHOST).await?;
    let other = Server::answering(answer(200, "", "the other trusted origin")).await?;
    let to = [format!("http://{}/", canary.address), other.url.to_string()];
    let server = Server::start(move |mut wire| {
        let to = to.clone();
        async move {
            let seen = wire.request().await?;
            let location = match seen.head.split(' ').nth(1) {
                Some("/straight") => &to[0],
                Some("/chain") => "/second",
                Some("/second") => "third?x=1",
                Some("/third?x=1") => &to[0],
                Some("/userinfo") => "//user:word@127.0.0.1/",
                Some("/other") => &to[1],
                _ => "/unexpected",
            };
            wire.answer(302, &format!("Location: {location}\r\n"), "").await
        }
    })
    .await?;
    for rules in [CLOSED, ADDRESSES_ONLY] {
        let client = server.client(rules)?.trusting(std::slice::from_ref(&other.url));
        for path in ["/straight", "/chain", "/userinfo", "/other"] {
            let error = client.get(server.at(path)?).redirects(5).send().await.err();
            assert_eq!(error.map(|error| error.kind), Some(ErrorKind::Blocked), "{path}");
        }
        assert_eq!(canary.connections().await?, 0);
    }
    let open = server.client(OPEN)?;
    assert!(open.get(server.at("/chain")?).redirects(5).send().await.is_err());
    assert_eq!(canary.connections().await?, 1, "the canary would have seen it");
    Ok(())
}

#[tokio::test]
async fn a_name_that_changes_its_address_gains_nothing() -> Outcome {
    let canary = Canary::at(Ipv4Addr::LOCALHOST).await?;
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let lookup: Lookup = Arc::new(move |_| {
        let first = counter.fetch_add(1, Ordering::SeqCst) == 0;
        let ip = if first { Ipv4Addr::new(93, 184, 216, 34) } else { Ipv4Addr::LOCALHOST };
        Box::pin(async move { Ok(vec![IpAddr::V4(ip)]) })
    });
    let client = Client::assemble(ADDRESSES_ONLY, lookup, |builder| builder)?;
    let url = Url::parse(&format!("http://rebinding.test:{}/", canary.address.port()))?;
    client.check(&url).await?;
    let error = client.post(url.clone()).json("x").send().await.err().ok_or("it was sent")?;
    assert_eq!(error.kind, ErrorKind::Blocked);
    assert!(error.to_string().contains("rebinding.test"), "{error}");
    assert_eq!(client.check(&url).await.err().map(|error| error.kind), Some(ErrorKind::Blocked));
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    assert_eq!(canary.connections().await?, 0);
    Ok(())
}

#[tokio::test]
async fn an_unknown_name_is_not_sent() -> Outcome {
    let lookup: Lookup = Arc::new(|_| Box::pin(async { Err(io::Error::other("no such name")) }));
    let client = Client::assemble(Rules { any_address: false, ..OPEN }, lookup, |builder| builder)?;
    let url = Url::parse("https://nowhere.test/")?;
    assert_eq!(client.check(&url).await.err().map(|error| error.kind), Some(ErrorKind::NotSent));
    let error = client.post(url).json("x").send().await.err().ok_or("it was sent")?;
    assert_eq!(error.kind, ErrorKind::NotSent);
    assert!(error.to_string().contains("no such name"), "{error}");
    Ok(())
}

/// The environment of a process cannot be changed safely while it runs, so this test starts itself once more.
#[expect(clippy::disallowed_methods, reason = "the test starts itself again with proxies set")]
#[tokio::test]
async fn environment_proxies_are_ignored() -> Outcome {
    const TARGET: &str = "FANFARE_TEST_PROXY_TARGET";
    const GUARDED: &str = "FANFARE_TEST_PROXY_GUARDED";
    if let Ok(target) = std::env::var(TARGET) {
        let target = Url::parse(&target)?;
        if std::env::var_os(GUARDED).is_some() {
            let client = client(CLOSED)?.trusting(std::slice::from_ref(&target));
            assert_eq!(client.get(target).send().await?.text(), "direct");
        } else {
            let answer = reqwest::Client::new().get(target).send().await;
            assert!(answer.is_err(), "without care the canary is asked, which answers nothing");
        }
        return Ok(());
    }
    let server = Server::start(async |mut wire| {
        wire.request().await?;
        wire.stream.write_all(answer(200, "", "direct").as_bytes()).await
    })
    .await?;
    let canary = Canary::at(Ipv4Addr::LOCALHOST).await?;
    let proxy = format!("http://{}", canary.address);
    for (guarded, expected) in [(true, 0), (false, 1)] {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--exact", "tests::guard::environment_proxies_are_ignored"]);
        command.env(TARGET, server.url.as_str()).env_remove("NO_PROXY").env_remove("no_proxy");
        for name in
            ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
        {
            command.env(name, &proxy);
        }
        if guarded {
            command.env(GUARDED, "1");
        }
        let ended = command.kill_on_drop(true).output().await?;
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
        assert!(String::from_utf8_lossy(&ended.stdout).contains("1 passed"));
        assert_eq!(canary.connections().await?, expected, "guarded: {guarded}");
    }
    Ok(())
}
