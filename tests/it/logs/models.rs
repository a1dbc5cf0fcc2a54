//! Prompts to models, and their answers, stand in no log, in no queue and in no error.

use std::process::{Child, Command, Stdio};

use fanfare_tests::{Redis, Stack, User};
use serde_json::{Value, json};

use crate::{
    service::{Dir, Service, eventually},
    signup::text,
};

/// A word of every prompt; the simulated models repeat it in what they write.
const PROMPTED: &str = "zebrafinch";

/// Words that the simulated model writes and nobody asked for.
const INVENTED: [&str; 2] = ["invented-offers", "inventedbar"];

/// All that a Redis is told, from the start of this on.
struct Heard {
    redis: Redis,
    monitor: Child,
    file: std::path::PathBuf,
}

impl Heard {
    fn start(dir: &Dir) -> Self {
        std::fs::create_dir_all(&**dir).unwrap();
        let (redis, file) = (Redis::start(), dir.join("redis.log"));
        let address = redis.url();
        let monitor = Command::new("redis-cli")
            .args(["-u", &address, "MONITOR"])
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(&file).unwrap())
            .spawn()
            .expect("redis-cli runs");
        Self { redis, monitor, file }
    }

    /// Waits until all has been heard that was said before.
    async fn all(&self) -> String {
        let mark = uuid::Uuid::now_v7().simple().to_string();
        let _ = self.redis.ask(&["ECHO", &mark]);
        eventually("the monitor hears the mark", || async {
            let heard = std::fs::read_to_string(&self.file).unwrap();
            heard.contains(&mark).then_some(heard)
        })
        .await
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        let _ = self.monitor.kill();
        let _ = self.monitor.wait();
    }
}

/// Errors that callers got.
#[derive(Default)]
struct Told(Vec<String>);

impl Told {
    async fn refused(&mut self, user: &User, path: &str, body: Value, status: u16) {
        let answer = user.post(path, body).await.expect(status);
        self.0.push(answer.text.clone());
    }
}

async fn film(user: &User, prompt: String) -> Value {
    let body = json!({"prompt": prompt, "provider": "xai", "duration_seconds": 1});
    let job = user.post("/api/v1/ai/generate-video", body).await.expect(202).body["job"].clone();
    let path = format!("/api/v1/ai/video-jobs/{}", text(&job, "id"));
    eventually("the film ends", || async {
        let job = user.get(&path).await.expect(200).body["job"].clone();
        (!matches!(text(&job, "status"), "queued" | "processing")).then_some(job)
    })
    .await
}

/// Asks for everything that models make, with every way in which it may fail.
async fn ask_for_everything(user: &User) -> Told {
    let mut told = Told::default();
    let (captions, image) = ("/api/v1/ai/generate-captions", "/api/v1/ai/generate-image");
    let brief = |more: &str| json!({"brief": format!("A {PROMPTED} sings {more}"), "platforms": ["bluesky"]});
    let prompt = |more: &str| json!({"prompt": format!("A {PROMPTED} sings {more}")});
    for more in ["", "[[invent]]", "[[invent-always]]"] {
        let made = user.post(captions, brief(more)).await.expect(200);
        assert!(made.text.contains(PROMPTED), "{}", made.text);
    }
    user.post(image, prompt("")).await.expect(201);
    for (more, status) in
        [("[[refuse]]", 422), ("[[bad-json]]", 502), ("[[fail]]", 502), ("[[drop]]", 502)]
    {
        told.refused(user, captions, brief(more), status).await;
        told.refused(user, image, prompt(more), status).await;
    }
    let long = PROMPTED.repeat(1_000);
    told.refused(user, captions, json!({"brief": long, "platforms": ["bluesky"]}), 400).await;
    told.refused(user, image, json!({ "prompt": long }), 400).await;
    told.refused(user, "/api/v1/ai/generate-video", json!({ "prompt": long }), 400).await;
    for (more, status) in [
        ("", "completed"),
        ("[[refuse]]", "failed"),
        ("[[fail]]", "failed"),
        ("[[drop]]", "failed"),
    ] {
        let job = film(user, format!("A {PROMPTED} flies {more}")).await;
        assert_eq!(text(&job, "status"), status, "{job:#}");
        told.0.push(job["error"].to_string());
    }
    told
}

#[tokio::test]
async fn neither_a_prompt_nor_what_a_model_wrote_is_told_to_others() {
    let dir = Dir::new();
    let heard = (Stack::of_this_run() == Stack::Fleet).then(|| Heard::start(&dir));
    let mut variables =
        vec![("FANFARE_LOG", "debug"), ("FANFARE_LOG_FORMAT", "json"), ("FANFARE_AI", "sandbox")];
    let address = heard.as_ref().map(|heard| heard.redis.url());
    variables.extend(address.as_deref().map(|url| ("FANFARE_REDIS_URL", url)));
    let service = Service::on_stack(&dir, &variables).await;
    let told = ask_for_everything(&service.user()).await;
    let said = eventually("the end of the last film is logged", || async {
        let said = service.logged().join("\n");
        said.contains("a video was not submitted").then_some(said)
    })
    .await;
    let mut places = vec![("a log", said), ("an error", told.0.join("\n"))];
    if let Some(heard) = &heard {
        let said = heard.all().await;
        assert!(said.contains("video") || said.contains("MakeVideo"), "the queue was not heard");
        places.push(("Redis", said));
    }
    for (place, said) in places {
        let said = said.to_lowercase();
        for word in INVENTED.iter().chain([&PROMPTED]) {
            let line = said.lines().find(|line| line.contains(word));
            assert!(line.is_none(), "{word} stands in {place}: {line:?}");
        }
    }
}
