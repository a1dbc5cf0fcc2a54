mod errors;
mod publish;
mod verify;

use serde_json::json;

use crate::{Account, Secrets, tests::test_server};

fn account() -> Account {
    let meta = json!({"site_url": "https://blog.example/news", "user_id": 7});
    test_server::account("blog.example/news:7", meta)
}

fn secrets() -> Secrets {
    Secrets::new()
        .with("site_url", "https://blog.example/news/")
        .with("username", "writer")
        .with("application_password", "abcd efgh ijkl")
}

/// `writer:abcd efgh ijkl`, as Basic has it.
const AUTHORIZATION: &str = "authorization: basic d3jpdgvyomfiy2qgzwznacbpamts";
