//! The demo: a post made by models, an account with a post on every network, and the ledger of one post.

use std::{collections::HashMap, io::Write, time::Duration};

use anyhow::{Context as _, Result, bail};
use base64::{Engine, engine::general_purpose::STANDARD};
use chrono::{SecondsFormat, TimeDelta};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Service;

/// The first post is due this many seconds after it was created, the others follow one second apart.
const LEAD: i64 = 3;

/// The longest wait for a post to reach a final status.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The network for the post made by models; it has a label for such posts.
const AI_LABEL_NETWORK: &str = "x";

/// The prompts for the models.
const BRIEF: &str = "Our bakery opens on Saturday at 8 am with 40 kinds of bread";
const PROMPT: &str = "A loaf of bread on a wooden table";

/// Files for posts that need one: a picture and a video of four seconds, made with ffmpeg, which the user's machine may
/// not have.
const PICTURE: (&str, &str, &[u8]) =
    ("picture.jpg", "image/jpeg", include_bytes!("../assets/picture.jpg"));
const FILM: (&str, &str, &[u8]) = ("film.mp4", "video/mp4", include_bytes!("../assets/film.mp4"));

/// Shows posts going out on every simulated network of the service at `origin`.
///
/// # Errors
/// A post was not published, or the service refused a request.
pub async fn demo(origin: &str, key: &str) -> Result<()> {
    let service = Service::new(origin, key);
    let platforms = service.call(Method::GET, "/api/v1/platforms", None).await?;
    let platforms = platforms["platforms"].as_array().context("no list of platforms")?;
    say(format_args!("Fanfare is at {origin}.\n"));
    let made = generate_post(&service).await?;
    say(format_args!("\nPosts for {} networks, and that one:\n", platforms.len()));
    let bars = MultiProgress::new();
    let style = ProgressStyle::with_template("{spinner} {prefix:15} {msg}")?;
    let (mut posts, mut files) = (Vec::<(i64, String)>::new(), Files::default());
    for (place, platform) in platforms.iter().enumerate() {
        let name = platform["id"].as_str().context("a platform without an id")?;
        let mut post = json!({"settings": needed_settings(platform)});
        post["caption"] = format!("Hello, {name}! This was scheduled by Fanfare.").into();
        post["media_urls"] = files.needed(&service, platform).await?.into();
        let id = schedule(&service, name, post, i64::try_from(place)?).await?;
        posts.push((id, name.to_owned()));
    }
    let id = schedule(&service, AI_LABEL_NETWORK, made, i64::try_from(platforms.len())?).await?;
    posts.push((id, format!("{AI_LABEL_NETWORK} (models)")));
    let bar = |(id, name): (i64, String)| {
        let bar = bars.add(ProgressBar::new_spinner().with_style(style.clone()));
        bar.set_prefix(name);
        bar.enable_steady_tick(Duration::from_millis(100));
        (id, bar)
    };
    let posts: Vec<_> = posts.into_iter().map(bar).collect();
    let mut failed = 0;
    for (id, bar) in &posts {
        let post = follow(&service, *id, bar).await?;
        let summary = summary(&post);
        bar.finish_with_message(summary.clone());
        if bar.is_hidden() {
            say(format_args!("{:15} {summary}", bar.prefix()));
        }
        failed += usize::from(post["status"] != "published");
    }
    if let Some((id, _)) = posts.first() {
        ledger(&service, *id).await?;
    }
    if failed > 0 {
        bail!("{failed} posts did not go out");
    }
    Ok(())
}

/// Generates a caption and an image; returns a post with both, labelled as AI-generated.
async fn generate_post(service: &Service) -> Result<Value> {
    let asked = json!({"brief": BRIEF, "platforms": [AI_LABEL_NETWORK], "count": 1});
    let written = service.call(Method::POST, "/api/v1/ai/generate-captions", Some(&asked)).await?;
    let caption = &written["captions"][0]["variants"][0]["text"];
    let told = |what: &str, made: &Value, shown: &str| {
        let (model, credits) = (text(&made["model"]), &made["credits_spent"]);
        let unit = if credits == 1 { "credit" } else { "credits" };
        say(format_args!("{what} by {model} for {credits} {unit}: {shown}"));
    };
    told("A caption", &written, caption.as_str().context("no caption passed the check")?);
    let asked = json!({ "prompt": PROMPT });
    let drawn = service.call(Method::POST, "/api/v1/ai/generate-image", Some(&asked)).await?;
    let image = &drawn["media_urls"][0];
    told("An image", &drawn, image.as_str().context("no image was drawn")?);
    Ok(json!({"caption": caption, "media_urls": [image], "settings": {"ai_generated": true}}))
}

/// Returns the required settings of a platform, from its first example.
fn needed_settings(platform: &Value) -> Value {
    let required = platform["settings"].as_array().into_iter().flatten();
    let required = required.filter(|setting| setting["required"] == true);
    let given = &platform["examples"][0]["post"]["settings"];
    let named = required.filter_map(|setting| setting["name"].as_str());
    Value::Object(named.map(|name| (name.to_owned(), given[name].clone())).collect())
}

/// The uploaded files, with their addresses.
#[derive(Default)]
struct Files(HashMap<&'static str, String>);

impl Files {
    /// Returns the addresses of the files that a post on the platform needs, of the kinds in its first example.
    async fn needed(&mut self, service: &Service, platform: &Value) -> Result<Vec<String>> {
        let least = platform["post_types"][0]["media_limits"]["min"].as_u64().unwrap_or(0);
        let types = platform["examples"][0]["media_types"].as_array().cloned().unwrap_or_default();
        let mut addresses = Vec::new();
        for mime in types.iter().take(usize::try_from(least)?).map(text) {
            let file = if mime.starts_with("video/") { FILM } else { PICTURE };
            addresses.push(self.address(service, file).await?);
        }
        Ok(addresses)
    }

    async fn address(
        &mut self,
        service: &Service,
        (name, mime, bytes): (&'static str, &str, &[u8]),
    ) -> Result<String> {
        if let Some(known) = self.0.get(name) {
            return Ok(known.clone());
        }
        let data = STANDARD.encode(bytes);
        let file = json!({"filename": name, "content_type": mime, "data": data});
        let sent = service.call(Method::POST, "/api/v1/media/upload", Some(&file)).await?;
        let address = text(&sent["public_url"]).to_owned();
        self.0.insert(name, address.clone());
        Ok(address)
    }
}

async fn schedule(service: &Service, platform: &str, mut post: Value, place: i64) -> Result<i64> {
    let new = json!({ "platform": platform });
    let made = service.call(Method::POST, "/api/v1/sandbox/accounts", Some(&new)).await?;
    let at = now() + TimeDelta::seconds(LEAD + place);
    post["account_id"] = made["account"]["id"].clone();
    post["scheduled_at"] = at.to_rfc3339_opts(SecondsFormat::Millis, true).into();
    let made = service.call(Method::POST, "/api/v1/posts", Some(&post)).await?;
    made["post"]["id"].as_i64().context("a post without an id")
}

#[expect(clippy::disallowed_methods, reason = "a client goes by its own machine's clock")]
fn now() -> chrono::DateTime<chrono::Utc> {
    chrono::Utc::now()
}

/// Waits until a post has reached a final status, and shows its progress.
async fn follow(service: &Service, id: i64, bar: &ProgressBar) -> Result<Value> {
    let path = format!("/api/v1/posts/{id}");
    let ended = async {
        loop {
            let post = service.call(Method::GET, &path, None).await?["post"].take();
            if post["status"] == "published" || post["status"] == "failed" {
                return anyhow::Ok(post);
            }
            bar.set_message(format!(
                "{} for {}",
                text(&post["status"]),
                text(&post["scheduled_at"])
            ));
            // Reading is limited to 300 requests an hour.
            tokio::time::sleep(Duration::from_millis(400)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, ended).await.context("a post did not end in time")?
}

fn summary(post: &Value) -> String {
    let late = post["published_at"].as_str().zip(post["scheduled_at"].as_str());
    let parse = |time: &str| chrono::DateTime::parse_from_rfc3339(time).ok();
    let late = late.and_then(|(at, due)| Some((parse(at)? - parse(due)?).num_milliseconds()));
    match late {
        Some(late) => {
            format!("published {late} ms after its time: {}", text(&post["platform_post_url"]))
        }
        None => format!("{}: {}", text(&post["status"]), text(&post["error"]["message"])),
    }
}

/// Prints the ledger of one post, step by step.
async fn ledger(service: &Service, id: i64) -> Result<()> {
    let path = format!("/api/v1/posts/{id}/attempts");
    let ledger = service.call(Method::GET, &path, None).await?;
    say(format_args!("\nThe ledger of post {id} (GET {path}):\n"));
    for attempt in ledger["attempts"].as_array().into_iter().flatten() {
        say(format_args!(
            "attempt {} by {}: {}",
            attempt["number"],
            text(&attempt["worker"]),
            text(&attempt["outcome"])
        ));
        for step in attempt["steps"].as_array().into_iter().flatten() {
            say(format_args!(
                "  {}  {:8} {:20} {}",
                text(&step["started_at"]),
                text(&step["phase"]),
                text(&step["name"]),
                text(&step["remote_id"]),
            ));
        }
    }
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn say(line: impl std::fmt::Display) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
