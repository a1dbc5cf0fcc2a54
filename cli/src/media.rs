//! Uploads files.

use std::{
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use base64::{Engine, engine::general_purpose::STANDARD};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use reqwest::{Method, header::CONTENT_LENGTH};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use crate::client::Service;

/// A file of at most this size is sent inside one request; a larger one is announced and sent to an address of its own.
const SMALL: u64 = 1_000_000;

/// The number of times a file is sent again if the connection breaks or the service fails.
const TRIES: u32 = 3;

/// The number of leading bytes from which the type of a file is detected.
const HEAD: usize = 4_096;

const BLOCK: usize = 128 * 1_024;

/// The files to send, and the form of the output.
pub struct Upload {
    /// The files.
    pub files: Vec<PathBuf>,
    /// The workspace, for a key without one.
    pub workspace: Option<String>,
    /// Print whole records instead of addresses.
    pub json: bool,
}

/// Uploads files to the service at `origin`, and prints the address of each.
///
/// # Errors
/// A file could not be read, or the service refused it; the others are uploaded anyway.
pub async fn upload(origin: &str, key: &str, upload: Upload) -> Result<()> {
    let (service, bars) = (Service::new(origin, key), MultiProgress::new());
    let mut failed = 0;
    for path in &upload.files {
        let sent = send(&service, path, upload.workspace.as_deref(), &bars).await;
        match sent.with_context(|| path.display().to_string()) {
            Ok(file) if upload.json => say(&file.to_string()),
            Ok(file) => say(file["public_url"].as_str().unwrap_or_default()),
            Err(error) => {
                failed += 1;
                let _ = bars.println(format!("error: {error:#}"));
                if bars.is_hidden() {
                    let _ = writeln!(std::io::stderr(), "error: {error:#}");
                }
            }
        }
    }
    if failed > 0 {
        bail!("{failed} of {} files were not sent", upload.files.len());
    }
    Ok(())
}

/// Uploads one file; returns its record.
///
/// # Errors
/// The file cannot be read, or the service refuses it.
pub async fn send_file(origin: &str, key: &str, path: &Path) -> Result<Value> {
    let bars = MultiProgress::new();
    send(&Service::new(origin, key), path, None, &bars)
        .await
        .with_context(|| path.display().to_string())
}

async fn send(
    service: &Service,
    path: &Path,
    workspace: Option<&str>,
    bars: &MultiProgress,
) -> Result<Value> {
    let size = tokio::fs::metadata(path).await?.len();
    let mime = kind(path).await?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bar = bars.add(ProgressBar::new(size).with_style(style()?));
    bar.set_prefix(name.clone());
    bar.enable_steady_tick(Duration::from_millis(200));
    let mut file = json!({"filename": name, "content_type": mime});
    if let Some(workspace) = workspace {
        file["workspace_id"] = workspace.into();
    }
    let sent = if size <= SMALL {
        file["data"] = STANDARD.encode(tokio::fs::read(path).await?).into();
        service.call(Method::POST, "/api/v1/media/upload", Some(&file)).await
    } else {
        file["size"] = size.into();
        send_announced(service, path, size, &file, &bar).await
    };
    match &sent {
        Ok(_) => bar.finish(),
        Err(_) => bar.abandon(),
    }
    sent
}

/// Announces a file and sends it, with retries.
async fn send_announced(
    service: &Service,
    path: &Path,
    size: u64,
    file: &Value,
    bar: &ProgressBar,
) -> Result<Value> {
    let place = service.call(Method::POST, "/api/v1/media/signed-upload", Some(file)).await?;
    let mut tries = 1;
    loop {
        bar.set_position(0);
        match put(service, &place, path, size, bar).await {
            Err(SendError::Transient(_)) if tries < TRIES => tries += 1,
            // The reply to an earlier attempt was lost, and the file is stored.
            Err(SendError::Refused(_)) if tries > 1 && is_stored(service, &place, size).await => {
                return Ok(place);
            }
            Err(SendError::Refused(error) | SendError::Transient(error)) => return Err(error),
            Ok(sent) => return Ok(sent),
        }
    }
}

/// Why a file was not stored.
enum SendError {
    /// It may succeed later.
    Transient(anyhow::Error),
    Refused(anyhow::Error),
}

async fn put(
    service: &Service,
    place: &Value,
    path: &Path,
    size: u64,
    bar: &ProgressBar,
) -> Result<Value, SendError> {
    let file =
        tokio::fs::File::open(path).await.map_err(|error| SendError::Refused(error.into()))?;
    let bar = bar.clone();
    let blocks = futures_util::stream::try_unfold(file, move |mut file| {
        let bar = bar.clone();
        async move {
            let mut block = vec![0; BLOCK];
            let read = file.read(&mut block).await?;
            block.truncate(read);
            bar.inc(read as u64);
            Ok::<_, std::io::Error>((read > 0).then_some((block, file)))
        }
    });
    let url = place["upload_url"].as_str().unwrap_or_default();
    let mut request = service.http().put(url).header(CONTENT_LENGTH, size);
    for (name, value) in place["headers"].as_object().into_iter().flatten() {
        request = request.header(name, value.as_str().unwrap_or_default());
    }
    let sent = request.body(reqwest::Body::wrap_stream(blocks)).send().await;
    let reply = sent.map_err(|error| SendError::Transient(error.into()))?;
    let passing = reply.status().is_server_error();
    crate::client::read(reply).await.map_err(|error| {
        if passing { SendError::Transient(error) } else { SendError::Refused(error) }
    })
}

async fn is_stored(service: &Service, place: &Value, size: u64) -> bool {
    let url = place["public_url"].as_str().unwrap_or_default();
    let Ok(reply) = service.http().head(url).send().await else { return false };
    let length = reply.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    reply.status().is_success() && length == Some(size.to_string().as_str())
}

/// Detects the type of a file from its first bytes; the service checks all of them.
async fn kind(path: &Path) -> Result<&'static str> {
    let mut head = Vec::with_capacity(HEAD);
    let file = tokio::fs::File::open(path).await?;
    file.take(HEAD as u64).read_to_end(&mut head).await?;
    if head.is_empty() {
        bail!("the file is empty");
    }
    infer::get(&head)
        .map(|kind| kind.mime_type())
        .context("it is no picture and no video that can be posted")
}

fn style() -> Result<ProgressStyle> {
    let template =
        "{prefix:24!} {bar:30} {bytes:>10} of {total_bytes:10} {bytes_per_sec:>12} {eta:>4}";
    Ok(ProgressStyle::with_template(template)?)
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
