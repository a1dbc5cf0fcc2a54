//! Finding an operation by saying what is to be done.

use fanfare_tests::{Options, TestApp, User};
use serde_json::{Value, json};

/// Questions as agents ask them, and the operation that has to be among the first three.
const QUESTIONS: [(&str, &str); 71] = [
    ("rotate the secret of a webhook", "rotate_webhook_secret"),
    ("make a webhook tell me when a post is published", "create_webhook"),
    ("which webhooks are there", "list_webhooks"),
    ("why did my endpoint not get an event", "list_deliveries"),
    ("send a failed delivery again", "redeliver"),
    ("send a test event to my receiver", "test_webhook"),
    ("stop a webhook for a while", "update_webhook"),
    ("remove a webhook", "delete_webhook"),
    ("poll events", "list_events"),
    ("reconnect account", "connect_with_credentials"),
    ("connect bluesky with an app password", "connect_with_credentials"),
    ("renew expired credentials of an account", "connect_with_credentials"),
    ("which networks can be connected", "list_connect_options"),
    ("disconnect an account", "disconnect_account"),
    ("remove a social account", "disconnect_account"),
    ("what needs my attention", "list_conversations"),
    ("unanswered messages", "list_conversations"),
    ("reply to a direct message", "reply_to_conversation"),
    ("read a DM thread", "get_conversation"),
    ("comments on my posts", "list_comments"),
    ("answer a comment", "reply_to_comment"),
    ("hide a comment", "update_comment"),
    ("delete a comment", "delete_comment"),
    ("refresh the inbox now", "sync_inbox"),
    ("reviews of my Google location", "list_reviews"),
    ("respond to a Google review", "reply_to_review"),
    ("draft an answer to a review", "suggest_review_reply"),
    ("remove my answer to a review", "delete_review_reply"),
    ("link for customers to leave a review", "get_review_link"),
    ("what is missing in my business profile", "audit_business_profile"),
    ("add a photo to my Google business profile", "add_business_media"),
    ("list photos of a location", "list_business_media"),
    ("delete a photo of a location", "delete_business_media"),
    ("make a picture with AI", "generate_image"),
    ("create a video with AI", "generate_video"),
    ("price of a video", "run_video_function"),
    ("which video models are there", "get_video_options"),
    ("is my video ready", "get_video_job"),
    ("cancel a video that is queued", "cancel_video_job"),
    ("followers over the last month", "list_account_analytics"),
    ("statistics of posts", "list_post_analytics"),
    ("which posts performed best", "list_post_analytics"),
    ("what works well for this account", "get_performance_profile"),
    ("ideas for posts", "list_suggestions"),
    ("reject a suggested post", "dismiss_suggestion"),
    ("delete a campaign", "delete_post_group"),
    ("posting times of an account", "get_account_slots"),
    ("change the posting schedule of an account", "set_account_slots"),
    ("delete a file", "delete_media"),
    ("upload a small image", "upload_media"),
    ("where did my credits go", "list_credit_entries"),
    ("which plan do I have", "get_subscription"),
    ("cancel my subscription", "cancel_subscription"),
    ("pause my subscription for a month", "pause_subscription"),
    ("go to a cheaper plan", "downgrade_subscription"),
    ("end the pause of my plan", "resume_subscription"),
    ("create an API key", "create_api_key"),
    ("my API key leaked", "revoke_api_key"),
    ("list my keys", "list_api_keys"),
    ("make an OAuth app", "create_oauth_client"),
    ("which tools have access to my account", "list_oauth_grants"),
    ("remove access of a tool", "end_oauth_grant"),
    ("brand voice", "get_brand_profile"),
    ("accounts of a client", "list_brand_accounts"),
    ("try without posting in public, test account", "create_sandbox_account"),
    ("simulate a network error", "set_sandbox_faults"),
    ("simulate an incoming comment", "create_sandbox_item"),
    ("what is public on the simulated network", "list_sandbox_posts"),
    ("pinterest boards", "trigger_platform_helper"),
    ("how many posts to X are left", "get_x_posting_quota"),
    ("how does this service work, ask for help", "ask_support"),
];

/// The most bytes of an answer.
const LONGEST: usize = 8_000;

async fn find(user: &User, query: &str) -> Value {
    let params = json!({"name": "find_operation", "arguments": {"query": query}});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let accept = ("Accept", "application/json, text/event-stream");
    let sent = user.send(reqwest::Method::POST, "/mcp", &[accept], Some(&message)).await;
    sent.expect(200).body["result"]["structuredContent"].clone()
}

fn names(found: &Value) -> Vec<String> {
    let operations = found["operations"].as_array().unwrap().iter();
    operations.map(|one| one["operation"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_question_finds_its_operation_and_little_else() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let accept = ("Accept", "application/json, text/event-stream");
    let list =
        user.send(reqwest::Method::POST, "/mcp", &[accept], Some(&message)).await.expect(200);
    let list = list.body["result"]["tools"].as_array().unwrap().clone();
    let mut missed = Vec::new();
    for (question, wanted) in QUESTIONS {
        let found = find(&user, question).await;
        let names = names(&found);
        if !names.iter().take(3).any(|name| name == wanted) {
            missed.push(format!("{question}: {names:?} without {wanted}"));
        }
        assert!(names.len() <= 6, "{question}: {names:?}");
        let size = found.to_string().len();
        assert!(size <= LONGEST, "{question}: {size} bytes");
        let with_arguments = found["operations"].as_array().unwrap().iter();
        let with_arguments = with_arguments.filter(|one| one["arguments"].is_object()).count();
        assert!(with_arguments <= 2, "{question}");
        for name in &names {
            assert!(
                list.iter().all(|tool| tool["name"] != name.as_str()),
                "{question}: {name} is listed"
            );
        }
    }
    assert_eq!(missed, Vec::<String>::new());
}

#[tokio::test]
async fn a_name_is_answered_with_its_arguments_and_nonsense_with_nothing() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    for name in ["create_webhook", "create_posts_batch"] {
        let found = find(&user, name).await;
        assert_eq!(names(&found), [name]);
        let shown = &found["operations"][0];
        assert!(shown["arguments"]["properties"].is_object(), "{shown}");
        assert!(shown["when"].as_str().unwrap().starts_with("Use it"), "{shown}");
    }
    for nonsense in ["xyzzy", "", "the of and"] {
        assert_eq!(find(&user, nonsense).await["operations"], json!([]), "{nonsense}");
    }
    // Tools of the list are named and no more.
    let found = find(&user, "create a post").await;
    assert!(found["tools"].to_string().contains("create_post"), "{found}");
}
