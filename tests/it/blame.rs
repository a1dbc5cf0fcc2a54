//! Who is to blame when a provider of models refuses: the words of the caller, the operator's key, or nobody. The answers
//! are those that the vendors document or were seen to give (`ai/src/failure/table.rs`); the simulator gives them as they stand.

use std::time::Duration;

use fanfare_people::credits;
use fanfare_tests::{ApiReply, Options, TestApp, User};
use serde_json::{Value, json};

use crate::{
    analytics::{after_syncs, set},
    business::{profile, read, review, reviews},
    films::ended,
    signup::text,
};

/// Whose fault a refusal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Content,
    Operator,
    /// Nobody's: the provider asks to wait.
    Wait,
    /// The provider's.
    Provider,
}

use Fault::{Content, Operator, Provider, Wait};

impl Fault {
    /// Checks a refusal of an operation whose caller waits.
    fn check(self, reply: ApiReply, what: &str) {
        let (status, code) = match self {
            Content => (422, "content_refused"),
            Operator => (503, "provider_denied"),
            Wait => (503, "unavailable"),
            Provider => (502, "provider_unreachable"),
        };
        assert_eq!(
            (reply.status, text(&reply.body, "code")),
            (status, code),
            "{what}: {}",
            reply.text
        );
        assert_eq!(reply.body["retryable"], matches!(self, Wait | Provider), "{what}");
        if self == Wait && what.starts_with("429") {
            assert_eq!(reply.header("retry-after"), "7", "{what}: the provider's own wait");
        }
    }

    /// The code of a video that ends so.
    const fn of_video(self) -> &'static str {
        match self {
            Content => "content_refused",
            Operator => "provider_error",
            Wait => "provider_unreachable",
            Provider => "outcome_unknown",
        }
    }
}

/// Answers of endpoints that speak like OpenAI.
const TEXTS: [(&str, Fault); 14] = [
    ("400 content_policy_violation Your request was rejected.", Content),
    ("400 content_filter The response was filtered.", Content),
    ("400 - Content Exists Risk", Content),
    ("403 moderation_blocked No.", Content),
    ("403 - Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO", Content),
    ("400 invalid_value This breaks the safety policy of the model.", Operator),
    ("401 invalid_api_key Your key breaks our safety policy.", Operator),
    ("402 - Insufficient credits", Operator),
    ("403 - Your account is barred: it broke our usage guidelines.", Operator),
    ("429 insufficient_quota You exceeded your current quota.", Operator),
    ("429 rate_limit_exceeded Slow down.", Wait),
    ("503 - Overloaded by our safety system.", Wait),
    ("500 content_filter Our safety system failed.", Provider),
    ("502 moderation_blocked Bad gateway.", Provider),
];

/// Answers to requests for images: the provider, the answer, and whose fault it is.
const IMAGES: [(&str, &str, Fault); 13] = [
    ("google", "400 - This prompt violates Google's Responsible AI practices.", Content),
    ("google", "400 API_KEY_INVALID API key not valid.", Operator),
    ("google", "400 FAILED_PRECONDITION User location is not supported by our policy.", Operator),
    ("google", "403 - The project is suspended for a violation of the usage guidelines.", Operator),
    ("google", "429 - Resource has been exhausted.", Wait),
    ("google", "503 - The model is overloaded.", Wait),
    ("google", "500 - The safety filters failed.", Provider),
    ("xai", "400 - The prompt was rejected by content moderation.", Content),
    (
        "xai",
        "403 - Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_CSAM",
        Content,
    ),
    ("xai", "403 - Your team is barred: it broke the usage guidelines.", Operator),
    ("xai", "404 model_unavailable The model is gone.", Operator),
    ("xai", "429 - Too many requests.", Wait),
    ("xai", "500 - The content moderation failed.", Provider),
];

/// How videos are refused, at once or at their end.
const VIDEOS: [(&str, &str, Fault); 12] = [
    ("xai", "answer 400 - Rejected by content moderation.", Content),
    ("xai", "answer 403 - Your key is blocked for a violation of our safety policy.", Operator),
    ("xai", "answer 429 - Too many requests.", Wait),
    ("xai", "answer 500 - The content moderation failed.", Provider),
    ("google", "answer 400 content_blocked No.", Content),
    ("google", "answer 400 prohibited_content No.", Content),
    ("google", "answer 403 permission_denied The project broke the policy.", Operator),
    ("google", "answer 429 quota_exceeded The daily quota is used up.", Operator),
    ("google", "answer 500 content_blocked The safety system failed.", Provider),
    ("google", "end image_safety No.", Content),
    ("google", "end quota_exceeded The daily quota is used up.", Operator),
    ("google", "end permission_denied The project broke the usage guidelines.", Operator),
];

/// The same at Vertex AI, whose operations end with codes of `google.rpc.Code`.
const VERTEX: [(&str, &str, Fault); 6] = [
    (
        "google",
        "answer 400 - It violates Vertex AI's usage guidelines. Support codes: 15236754",
        Content,
    ),
    ("google", "answer 403 - The project broke the usage guidelines.", Operator),
    ("google", "answer 500 - The usage guidelines could not be read.", Provider),
    (
        "google",
        "end 3 The image violates Vertex AI's usage guidelines. Support codes: 15236754",
        Content,
    ),
    ("google", "end 7 The project broke the usage guidelines.", Operator),
    ("google", "end 16 The token ended.", Operator),
];

async fn available(user: &User) -> i64 {
    let wallet = user.get("/api/v1/credits").await.expect(200).body["wallet"].clone();
    assert_eq!(wallet["reserved"], 0);
    wallet["available"].as_i64().unwrap()
}

#[tokio::test]
async fn captions_are_refused_for_whose_fault_it_is() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let before = available(&user).await;
    for (answer, fault) in TEXTS {
        let body =
            json!({"brief": format!("Brunch [[answer {answer}]]"), "platforms": ["bluesky"]});
        fault.check(user.post("/api/v1/ai/generate-captions", body).await, answer);
    }
    assert_eq!(available(&user).await, before);
    assert_eq!(credits::check(&app.domain).await.unwrap(), []);
}

#[tokio::test]
async fn suggested_answers_to_reviews_are_refused_for_whose_fault_it_is() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = profile(&app, &user).await;
    for (answer, _) in TEXTS {
        review(&user, account, &format!("Lovely [[answer {answer}]]"), 4).await;
    }
    read(&app, &user).await;
    let (all, before) = (reviews(&user, "limit=100").await, available(&user).await);
    for (answer, fault) in TEXTS {
        let wanted = format!("[[answer {answer}]]");
        let one = all.iter().find(|one| text(one, "text").contains(&wanted)).unwrap();
        let asked = json!({"review_id": one["id"]});
        fault
            .check(user.post("/api/v1/google-business/reviews/suggest-reply", asked).await, answer);
    }
    assert_eq!(available(&user).await, before);
}

#[tokio::test]
async fn images_are_refused_for_whose_fault_it_is() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let before = available(&user).await;
    for (provider, answer, fault) in IMAGES {
        let body = json!({"prompt": format!("A cat [[answer {answer}]]"), "provider": provider});
        fault.check(user.post("/api/v1/ai/generate-image", body).await, answer);
    }
    assert_eq!(available(&user).await, before);
}

/// Orders a video, and returns how it ended.
async fn video(app: &TestApp, user: &User, (provider, word): (&str, &str)) -> Value {
    let body = json!({"prompt": format!("A cat [[{word}]]"), "provider": provider});
    let job = user.post("/api/v1/ai/generate-video", body).await.expect(202).body["job"].clone();
    if !word.starts_with("answer 429 -") {
        return ended(app, user, &job).await;
    }
    // It is asked for again and again, so time has to pass though it is not submitted.
    let path = format!("/api/v1/ai/video-jobs/{}", text(&job, "id"));
    app.eventually_in_time("the provider is given up", Duration::from_secs(5), || async {
        let job = user.get(&path).await.expect(200).body["job"].clone();
        (text(&job, "status") == "failed").then_some(job)
    })
    .await
}

async fn videos(vertex: bool, rows: &[(&str, &str, Fault)]) {
    let app = TestApp::with(Options { vertex, ..Options::default() }).await;
    let user = app.user().await;
    let before = available(&user).await;
    for (provider, word, fault) in rows {
        let job = video(&app, &user, (*provider, *word)).await;
        let error = &job["error"];
        assert_eq!(text(error, "code"), fault.of_video(), "{provider}, {word}: {job}");
        let is_of_operator = text(error, "message").contains("this service's operator");
        assert_eq!(is_of_operator, *fault == Operator, "{provider}, {word}: {error}");
    }
    // What a provider could not make is nobody's fault, whatever its words.
    for (provider, word) in [
        ("xai", "end internal_error The content moderation failed."),
        (
            "google",
            if vertex {
                "end 13 The safety service failed."
            } else {
                "end api_error The safety system failed."
            },
        ),
    ] {
        let error = video(&app, &user, (provider, word)).await["error"].clone();
        assert_eq!(text(&error, "message"), "The provider could not make the video.", "{word}");
    }
    assert_eq!(available(&user).await, before);
    assert_eq!(credits::check(&app.domain).await.unwrap(), []);
}

#[tokio::test]
async fn videos_end_for_whose_fault_it_is() {
    videos(false, &VIDEOS).await;
}

#[tokio::test]
async fn videos_of_vertex_ai_end_for_whose_fault_it_is() {
    videos(true, &VERTEX).await;
}

#[tokio::test]
async fn the_support_chat_answers_whatever_the_model_says() {
    let options = Options { workers: false, real_models: true, ..Options::default() };
    let app = TestApp::with(options).await;
    let user = app.user().await;
    for (answer, _) in TEXTS {
        let question = format!("How do I rotate the secret of a webhook? [[answer {answer}]]");
        let body = json!({ "message": question });
        let said = user.post("/api/v1/support/chat", body).await.expect(200).body;
        assert_eq!(said["provider"], Value::Null, "{answer}: {said}");
        assert!(text(&said, "answer").contains("rotate-secret"), "{answer}: {said}");
    }
}

#[tokio::test]
async fn suggestions_keep_the_old_words_whatever_the_model_says() {
    for (answer, _) in [TEXTS[1], TEXTS[6], TEXTS[10], TEXTS[12]] {
        let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
        let user = app.user().await;
        let id = user.connect("threads").await;
        for days in 20..32 {
            let said = format!("We bake bread each morning. [[answer {answer}]]");
            let post =
                json!({"account_id": id, "text": said, "created_at": app.at(-86_400 * days)});
            let post = user.post("/api/v1/sandbox/threads/posts", post).await.expect(201).body;
            let likes = if days % 4 == 0 { 30 } else { 10 };
            let numbers = json!({"views": 100, "likes": likes});
            set(&user, "threads", id, json!({"post_id": post["id"]}), numbers).await;
        }
        app.start_workers();
        after_syncs(&app, &user, 1).await;
        let asked = json!({"account_id": id});
        let made = user.post("/api/v1/sandbox/suggestions", asked).await.expect(200).body;
        assert!(made["suggestions"].as_i64().unwrap() > 0, "{answer}: {made}");
        let listed = user.get("/api/v1/suggestions?status=pending").await.expect(200).body;
        for one in listed["suggestions"].as_array().unwrap() {
            assert!(text(one, "caption").starts_with("We bake bread"), "{answer}: {one}");
        }
    }
}
