//! Hashnode: one GraphQL endpoint.

use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, send};

const PUBLISH: &str =
    "mutation ($input: PublishPostInput!) { publishPost(input: $input) { post { id slug url } } }";

async fn ask(net: &Net, account: &Account, query: &str, variables: Value) -> Got {
    let request =
        net.client.post(&account.base).bearer_auth(account.credential("personal_access_token"));
    send(request.json(&json!({"query": query, "variables": variables}))).await
}

fn article(account: &Account, more: Value) -> Value {
    let mut input = json!({"publicationId": account.credential("publication_id"), "title": "Hello", "contentMarkdown": "Text"});
    for (name, value) in more.as_object().unwrap() {
        input[name] = value.clone();
    }
    json!({ "input": input })
}

fn code(got: Got) -> String {
    got.body["errors"][0]["extensions"]["code"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn an_article_is_published_and_found_by_its_slug() {
    let net = Net::new().await;
    let account = net.account("hashnode").await;
    let me = ask(
        &net,
        &account,
        "{ me { id username publications(first: 50) { edges { node { id title } } } } }",
        json!({}),
    )
    .await
    .is(200);
    let publication = &me["data"]["me"]["publications"]["edges"][0]["node"];
    assert_eq!(publication["id"], account.credential("publication_id"));
    assert!(publication.get("url").is_none(), "only what was asked for");
    let more = json!({"slug": "mine", "tags": [{"slug": "web-dev", "name": "Web Dev"}], "coverImage": "https://example.org/a.png",
        "originalArticleURL": "https://example.org/a", "disableComments": true, "subtitle": "In short"});
    let made = ask(&net, &account, PUBLISH, article(&account, more)).await.is(200);
    let made = &made["data"]["publishPost"]["post"];
    assert_eq!(made["slug"], "mine");
    let by_slug = "query ($id: ObjectId!, $slug: String!) { publication(id: $id) { post(slug: $slug) { id title } } }";
    let find = async |slug: &str| {
        let variables = json!({"id": account.credential("publication_id"), "slug": slug});
        ask(&net, &account, by_slug, variables).await.is(200)["data"]["publication"]["post"].clone()
    };
    assert_eq!(find("mine").await, json!({"id": made["id"], "title": "Hello"}));
    assert_eq!(find("other").await, Value::Null);
    let posts = net.posts(&account).await;
    assert_eq!(
        (&posts[0]["tags"], &posts[0]["disable_comments"]),
        (&json!(["Web Dev"]), &json!(true))
    );
    assert_eq!(posts[0]["media"][0]["url"], "https://example.org/a.png");
    assert_eq!(send(net.client.get(made["url"].as_str().unwrap())).await.status, 200);
    let calls = net.calls(&account).await;
    assert_eq!((&calls[0]["phase"], &calls[1]["phase"]), (&json!("read"), &json!("commit")));
    let twin =
        ask(&net, &account, PUBLISH, article(&account, json!({"slug": "mine"}))).await.is(200);
    assert!(twin["data"]["publishPost"]["post"]["slug"].as_str().unwrap().starts_with("mine-"));
}

#[tokio::test]
async fn refusals_come_with_a_code() {
    let net = Net::new().await;
    let account = net.account("hashnode").await;
    let publish =
        async |more: Value| code(ask(&net, &account, PUBLISH, article(&account, more)).await);
    let tags = |count: usize| json!({"tags": vec![json!({"slug": "a"}); count]});
    assert_eq!(publish(tags(15)).await, "");
    assert_eq!(publish(tags(16)).await, "BAD_USER_INPUT");
    assert_eq!(publish(json!({"tags": [{"slug": "Not a slug"}]})).await, "BAD_USER_INPUT");
    assert_eq!(publish(json!({"title": " "})).await, "BAD_USER_INPUT");
    assert_eq!(publish(json!({"title": null})).await, "BAD_USER_INPUT");
    assert_eq!(
        publish(json!({"coverImageOptions": {"coverImageURL": "https://example.org"}})).await,
        "BAD_USER_INPUT"
    );
    assert_eq!(publish(json!({"coverImage": "a.png"})).await, "BAD_USER_INPUT");
    assert_eq!(publish(json!({"publicationId": "650b01dbd3bd5e7ab2b2ab10"})).await, "NOT_FOUND");
    assert_eq!(
        code(ask(&net, &account, "{ nobody { id } }", json!({})).await),
        "GRAPHQL_VALIDATION_FAILED"
    );
    assert_eq!(
        code(ask(&net, &account, "{ me { secret } }", json!({})).await),
        "GRAPHQL_VALIDATION_FAILED"
    );
    assert_eq!(code(ask(&net, &account, "{ me {", json!({})).await), "GRAPHQL_PARSE_FAILED");
    let huge = json!({"contentMarkdown": "n".repeat(101 << 10)});
    assert_eq!(ask(&net, &account, PUBLISH, article(&account, huge)).await.status, 413);
    assert_eq!(net.posts(&account).await.len(), 1);
}

#[tokio::test]
async fn a_token_is_needed_and_may_end() {
    let net = Net::new().await;
    let account = net.account("hashnode").await;
    let stranger = net
        .client
        .post(&account.base)
        .bearer_auth("wrong")
        .json(&json!({"query": "{ me { id } }"}));
    assert_eq!(code(send(stranger).await), "UNAUTHENTICATED");
    net.faults(&account, json!([{"kind": "token_expired"}])).await;
    assert_eq!(
        code(ask(&net, &account, PUBLISH, article(&account, json!({}))).await),
        "UNAUTHENTICATED"
    );
    assert_eq!(code(ask(&net, &account, "{ me { id } }", json!({})).await), "UNAUTHENTICATED");
    net.faults(&account, json!([{"kind": "status", "status": 429, "ms": 5_000}])).await;
    let busy = ask(&net, &account, PUBLISH, article(&account, json!({}))).await;
    assert_eq!((busy.status, busy.headers["retry-after"].to_str().unwrap()), (429, "5"));
}
