//! Nothing that is printed holds a token: not of the address, not of a header, not of an answer.

use std::collections::BTreeMap;

use bytes::Bytes;
use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

use super::{CLOSED, Outcome, Server, answer, client};
use crate::{Error, Multipart};

const SECRET: &str = "s3cr3t";

#[derive(Debug, Deserialize)]
struct Post {
    #[expect(dead_code, reason = "only parsed")]
    id: u64,
}

fn shown(value: &impl std::fmt::Debug) -> [String; 2] {
    [format!("{value:?}"), format!("{value:#?}")]
}

fn is_clean(error: &Error) -> bool {
    let texts = [format!("{error}"), format!("{error:#}")];
    assert!(std::error::Error::source(error).is_none(), "a cause prints what it likes");
    texts.iter().chain(&shown(error)).all(|text| !text.contains(SECRET) && !text.contains("/bot"))
}

#[tokio::test]
async fn requests_and_answers_show_their_outline_only() -> Outcome {
    let server = Server::answering(answer(200, &format!("X-Token: {SECRET}\r\n"), SECRET)).await?;
    let client = server
        .client(CLOSED)?
        .trusting(&[Url::parse(&format!("https://api.example/{SECRET}?{SECRET}"))?]);
    let url = server.at(&format!("/bot{SECRET}/send?key={SECRET}"))?;
    let form = || {
        let (form, content) = (Multipart::new().text("token", SECRET), Bytes::from(SECRET));
        form.file(SECRET, SECRET, "text/plain", content)
    };
    let token = SecretString::from(SECRET);
    let request = client
        .post(url)
        .bearer(&token)
        .header("x-key", SECRET)
        .query(&[(SECRET, SECRET)])
        .multipart(form());
    let mut texts = shown(&client).to_vec();
    texts.extend(shown(&form()));
    texts.extend(shown(&request));
    assert!(texts.iter().any(|text| text.contains("x-key")), "header names may be seen");
    texts.extend(shown(&request.open().await?));
    texts.extend(shown(&client.get(server.at(&format!("/{SECRET}"))?).send().await?));
    for text in texts {
        assert!(!text.contains(SECRET), "{text}");
        assert!(!text.contains("/bot"), "{text}");
    }
    Ok(())
}

#[tokio::test]
async fn errors_name_the_host_only() -> Outcome {
    let path = format!("bot{SECRET}/send?key={SECRET}#{SECRET}");
    let silent = Server::start(|mut wire| async move { wire.request().await.map(drop) }).await?;
    let strange = Server::answering(format!("{SECRET} is not HTTP\r\n\r\n")).await?;
    let long = Server::answering(answer(200, "", &SECRET.repeat(100))).await?;
    let onward =
        Server::answering(answer(302, &format!("Location: http://10.0.0.1/{path}\r\n"), ""))
            .await?;
    let gone = Server::answering("").await?.at(&path)?;
    let mut errors = Vec::new();
    for server in [&silent, &strange, &long, &onward] {
        let request = server.client(CLOSED)?.get(server.at(&path)?);
        errors
            .push(request.max_reply(10).redirects(1).send().await.err().ok_or("it was answered")?);
    }
    let trusting = client(CLOSED)?.trusting(std::slice::from_ref(&gone));
    errors.push(
        trusting
            .post(gone.clone())
            .header("x-key", "s3cr3t\n")
            .send()
            .await
            .err()
            .ok_or("it was sent")?,
    );
    errors.push(trusting.post(gone).json(SECRET).send().await.err().ok_or("it was sent")?);
    for url in ["https://10.0.0.1/", "http://example.com/", "https://example.com:1/"] {
        let url = Url::parse(url)?.join(&path)?;
        errors.push(client(CLOSED)?.get(url).send().await.err().ok_or("it was sent")?);
    }
    let with_word = Url::parse(&format!("https://{SECRET}:{SECRET}@example.com/"))?;
    errors.push(client(CLOSED)?.get(with_word).send().await.err().ok_or("it was sent")?);
    let kinds =
        errors.iter().map(|error| format!("{:?}", error.kind)).collect::<Vec<_>>().join(" ");
    assert_eq!(kinds, "Lost Lost TooLarge Blocked Invalid NotSent Blocked Blocked Blocked Blocked");
    for error in &errors[..4] {
        assert!(
            error.to_string().contains("127.0.0.1") || error.to_string().contains("10.0.0.1"),
            "{error}"
        );
    }
    assert!(errors.iter().all(is_clean), "{errors:?}");
    Ok(())
}

#[tokio::test]
async fn nonsense_is_described_without_quoting_it() -> Outcome {
    let answers = [
        (format!("<html>{SECRET}</html>"), "line 1 column 1"),
        (format!("{{\"id\":\"{SECRET}\"}}"), "line 1 column"),
        (format!("{{\"{SECRET}\":1}}"), "missing field `id`"),
        (format!("{{\"id\":1,\"{SECRET}"), "cut short"),
        (String::new(), "cut short"),
    ];
    for (body, why) in answers {
        let server = Server::answering(answer(200, "", &body)).await?;
        let reply = server.client(CLOSED)?.get(server.url.clone()).send().await?;
        let error = reply.json::<Post>().err().ok_or("it was read")?;
        assert!(error.to_string().contains(why), "{error}");
        assert!(is_clean(&error));
        assert!(reply.json::<BTreeMap<String, i8>>().err().is_none_or(|error| is_clean(&error)));
    }
    Ok(())
}
