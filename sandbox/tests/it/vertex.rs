//! Vertex AI: films are had in the name of a service account, and only such as its models make.

use serde_json::{Value, json};

use crate::harness::{Got, Net, SECRET, send};

/// The path of a model's methods.
const MODEL: &str =
    "vertex/v1/projects/films/locations/global/publishers/google/models/veo-3.1-fast-generate-001";

async fn ask(net: &Net, token: &str, path: &str, body: &Value) -> Got {
    let url = net.url(&format!("ai/{path}"));
    send(net.client.post(url).bearer_auth(token).json(body)).await
}

fn film() -> Value {
    json!({"instances": [{"prompt": "A cat"}],
        "parameters": {"durationSeconds": 8, "resolution": "1080p", "aspectRatio": "9:16", "generateAudio": false, "sampleCount": 1}})
}

#[tokio::test]
async fn a_film_is_begun_and_asked_for_by_the_name_of_its_operation() {
    let net = Net::new().await;
    let begin = format!("{MODEL}:predictLongRunning");
    assert_eq!(ask(&net, "a stranger's", &begin, &film()).await.status, 401);
    let begun = ask(&net, SECRET, &begin, &film()).await.is(200);
    let fetch = format!("{MODEL}:fetchPredictOperation");
    let named = json!({"operationName": begun["name"]});
    let shown = ask(&net, SECRET, &fetch, &named).await.is(200);
    assert_eq!((&shown["name"], &shown["done"]), (&begun["name"], &Value::Null));
    let other = fetch.replace("-fast-", "-");
    let _ = ask(&net, SECRET, &other, &named).await.is(400);
    let gone = json!({"operationName": format!("{}x", begun["name"].as_str().unwrap())});
    let _ = ask(&net, SECRET, &fetch, &gone).await.is(404);
}

#[tokio::test]
async fn what_no_model_makes_is_refused() {
    let net = Net::new().await;
    let begin = format!("{MODEL}:predictLongRunning");
    for (place, value) in [
        ("/instances", json!([])),
        ("/instances/0/prompt", json!("")),
        ("/instances/0/image", json!({"bytesBase64Encoded": "Zm9v"})),
        ("/parameters/durationSeconds", json!(6)),
        ("/parameters/durationSeconds", json!("8")),
        ("/parameters/resolution", json!("8k")),
        ("/parameters/aspectRatio", json!("1:1")),
        ("/parameters/generateAudio", Value::Null),
        ("/parameters/sampleCount", json!(5)),
        ("/prompt", json!("A cat")),
    ] {
        let mut wrong = film();
        let (parent, name) = place.rsplit_once('/').unwrap();
        wrong.pointer_mut(parent).unwrap()[name] = value;
        let refused = ask(&net, SECRET, &begin, &wrong).await;
        assert_eq!(refused.status, 400, "{place}: {}", refused.text);
    }
    for path in
        [begin.replace("3.1", "3.0"), begin.replace("/v1/", "/v2/"), format!("{MODEL}:film")]
    {
        assert_eq!(ask(&net, SECRET, &path, &film()).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_claim_that_no_account_signed_gets_no_token() {
    let net = Net::new().await;
    let url = net.url("ai/vertex/token");
    let claim = "eyJhbGciOiJub25lIn0.eyJpc3MiOiJub2JvZHkifQ.";
    let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    for (grant, error) in [(grant, "invalid_grant"), ("password", "unsupported_grant_type")] {
        let form = [("grant_type", grant), ("assertion", claim)];
        let refused = send(net.client.post(&url).form(&form)).await.is(400);
        assert_eq!(refused["error"], error);
    }
}
