//! Every number and text that a network's answer holds of a comment or a message arrives, in lists as in single reads.

use fanfare_tests::TestApp;
use serde_json::{Value, json};

use super::{NETWORKS, account_with_post, comment, conversation, held, pro, unlisted::read, write};

/// Whether the network's description gives a comment these: a number of replies, a public address.
fn gives(platform: &str) -> (bool, bool) {
    match platform {
        "facebook" => (true, true),
        // The replies themselves come with a comment.
        "instagram" => (true, false),
        _ => (false, true),
    }
}

#[tokio::test]
async fn what_a_network_says_of_a_comment_is_shown_of_it() {
    for (platform, _) in NETWORKS {
        let app = TestApp::start().await;
        let user = pro(&app).await;
        let (account, post) = account_with_post(&app, &user, platform).await;
        let mut remote = Vec::new();
        for text in ["Two replies", "No reply"] {
            let author = json!({"id": "9001", "username": "ada.l"});
            let item =
                json!({"account_id": account, "kind": "comment", "text": text, "author": author});
            remote.push(write(&user, platform, item).await);
            comment(&app, &user, account, text).await;
        }
        for text in ["First", "Second"] {
            let item = json!({"account_id": account, "kind": "comment", "text": text, "parent_id": remote[0]});
            write(&user, platform, item).await;
        }
        read(&app, &user, account).await;
        let (replies, address) = gives(platform);
        for (text, count) in [("Two replies", 2), ("No reply", 0)] {
            let listed = comment(&app, &user, account, text).await;
            let path = format!("/api/v1/inbox/comments/{}", listed["id"]);
            let single = user.get(&path).await.expect(200).body["comment"].clone();
            let there = held(&user, platform, account).await;
            let there = there.iter().find(|item| item["text"] == text).unwrap();
            for shown in [&listed, &single] {
                let told = format!("{platform} {text}: {shown:#}");
                assert_eq!(shown["platform_comment_id"], there["id"], "{told}");
                assert_eq!(shown["platform_post_id"], there["post"], "{told}");
                assert_eq!(shown["post_id"], post["id"], "{told}");
                // Facebook tells names, the others user names.
                let name = if platform == "facebook" { "name" } else { "username" };
                assert_eq!(shown["author"][name], there["author"]["username"], "{told}");
                assert_eq!(shown["hidden"], there["hidden"], "{told}");
                let count = if replies { json!(count) } else { Value::Null };
                assert_eq!(shown["reply_count"], count, "{told}");
                // Threads tells nobody how often a reply is liked.
                let likes = if platform == "threads" { Value::Null } else { json!(0) };
                assert_eq!(shown["like_count"], likes, "{told}");
                assert_eq!(shown["url"].is_string(), address, "{told}");
            }
        }
    }
}

#[tokio::test]
async fn what_a_network_says_of_a_message_is_shown_of_it() {
    for (platform, _) in NETWORKS.into_iter().filter(|(_, messages)| *messages) {
        let app = TestApp::start().await;
        let user = pro(&app).await;
        let account = user.connect(platform).await;
        let ada = json!({"id": "77001", "username": "ada.l"});
        let item =
            json!({"account_id": account, "kind": "message", "text": "Open?", "author": ada});
        let remote = write(&user, platform, item).await;
        let id = conversation(&app, &user, account).await["id"].clone();
        // The report of a message holds the person's id alone; the list of conversations tells the names.
        read(&app, &user, account).await;
        let there = held(&user, platform, account).await.remove(0);
        assert_eq!(there["id"], remote);
        let listed = conversation(&app, &user, account).await;
        let single = user.get(&format!("/api/v1/inbox/conversations/{id}")).await.expect(200).body;
        for shown in [&listed, &single["conversation"]] {
            let (person, last) = (&shown["participant"], &shown["last_message"]);
            assert_eq!((&person["id"], &person["username"]), (&json!("77001"), &json!("ada.l")));
            assert_eq!((&last["text"], &last["direction"]), (&json!("Open?"), &json!("in")));
            assert_eq!(last["created_at"], there["created_at"], "{platform}: {shown:#}");
        }
        let message = &single["messages"][0];
        assert_eq!(message["platform_message_id"], there["id"], "{platform}: {message:#}");
        assert_eq!(message["text"], there["text"], "{platform}: {message:#}");
        assert_eq!(message["created_at"], there["created_at"], "{platform}: {message:#}");
        for field in ["id", "username"] {
            let is = &message["author"][field];
            assert_eq!(*is, there["author"][field], "{platform}: {message:#}");
        }
    }
}
