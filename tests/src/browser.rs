//! A real browser, driven with the DevTools protocol over a pair of pipes.

use std::{path::PathBuf, process::Stdio, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::patience::patience;

/// Debian's path of Chromium.
const CHROMIUM: &str = "/usr/bin/chromium";

/// The browser's error code during a navigation.
const NAVIGATING: i64 = -32_000;

/// The browser reads commands from descriptor 3 and writes replies to 4; a shell redirects our pipes.
const START: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null";

/// A headless Chromium with one page, which ends with the test.
pub struct Browser {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    session: Option<String>,
    last: u64,
    /// Errors of the page: exceptions, refused resources, violated policies.
    pub complaints: Vec<String>,
    /// The addresses of all navigations, including those to other programs.
    pub destinations: Vec<String>,
    dir: PathBuf,
}

impl Browser {
    /// Starts one.
    ///
    /// # Panics
    /// Chromium is not installed or does not start.
    pub async fn start() -> Self {
        assert!(
            std::path::Path::new(CHROMIUM).exists(),
            "{CHROMIUM} is not installed: run `make install`, or `apt-get install chromium`"
        );
        let dir =
            std::env::temp_dir().join(format!("fanfare-browser-{}", uuid::Uuid::now_v7().simple()));
        let mut process = Command::new("sh")
            .args(["-c", START, CHROMIUM])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .args(["--remote-debugging-pipe", "--hide-scrollbars", "--force-color-profile=srgb"])
            .arg(format!("--user-data-dir={}", dir.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("a shell");
        let (commands, answers) = (process.stdin.take(), process.stdout.take());
        let mut browser = Self {
            process,
            commands: commands.expect("its input"),
            answers: BufReader::new(answers.expect("its output")),
            session: None,
            last: 0,
            complaints: Vec::new(),
            destinations: Vec::new(),
            dir,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"})).await;
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", attach).await;
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({})).await;
        }
        browser
    }

    /// Replaces a site that this machine cannot reach: every address that begins with `site` shows a page that says so.
    pub async fn stand_in(&mut self, site: &str) {
        let pattern = json!([{"urlPattern": format!("{site}*")}]);
        self.call("Fetch.enable", json!({ "patterns": pattern })).await;
    }

    /// Waits for a navigation to an address that begins with `start`; returns the address.
    ///
    /// # Panics
    /// It never does.
    pub async fn wait_for_navigation(&mut self, start: &str) -> String {
        let deadline = tokio::time::Instant::now() + patience();
        loop {
            if let Some(found) = self.destinations.iter().find(|url| url.starts_with(start)) {
                return found.clone();
            }
            assert!(
                tokio::time::Instant::now() < deadline,
                "never: {start} in {:?}, {:?}",
                self.destinations,
                self.complaints
            );
            // Events are read only while a command is pending, so a command is sent.
            let _ = self.ask("Browser.getVersion", json!({})).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Sends a command of the protocol; returns its result.
    ///
    /// # Panics
    /// The browser refuses it or has ended.
    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        answer.unwrap_or_else(|refusal| panic!("{method}: {refusal}"))
    }

    /// Sends a command; returns its result, or the error of the browser.
    async fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.last += 1;
        let id = self.last;
        let mut command = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        let line = format!("{command}\0");
        self.commands.write_all(line.as_bytes()).await.expect("the browser listens");
        let answer = tokio::time::timeout(patience(), async {
            loop {
                let said = self.next_message().await;
                if said["id"] == id {
                    return said;
                }
            }
        });
        let mut answer = answer.await.unwrap_or_else(|_| panic!("{method} had no answer"));
        if answer["error"].is_null() {
            Ok(answer["result"].take())
        } else {
            Err(answer["error"].take())
        }
    }

    async fn next_message(&mut self) -> Value {
        let mut line = Vec::new();
        self.answers.read_until(0, &mut line).await.expect("the browser answers");
        assert_eq!(line.pop(), Some(0), "the browser has ended; does it start by hand?");
        let said: Value = serde_json::from_slice(&line).expect("the protocol is JSON");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match said["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                self.complaints.push(said["params"]["exceptionDetails"].to_string());
            }
            Some("Log.entryAdded") if said["params"]["entry"]["level"] == "error" => {
                let entry = &said["params"]["entry"];
                self.complaints.push(format!("{} {}", text(&entry["text"]), text(&entry["url"])));
            }
            Some("Network.requestWillBeSent") if said["params"]["type"] == "Document" => {
                self.destinations.push(text(&said["params"]["request"]["url"]));
            }
            Some("Fetch.requestPaused") => self.fulfil(&said["params"]["requestId"]).await,
            _ => {}
        }
        said
    }

    /// Shows a page in place of a site. An error is ignored, since tests check what the browser shows.
    async fn fulfil(&mut self, request: &Value) {
        self.last += 1;
        let html = STANDARD.encode("<!doctype html><title>Arrived</title><h1>Arrived</h1>");
        let headers = json!([{"name": "Content-Type", "value": "text/html"}]);
        let params = json!({
            "requestId": request, "responseCode": 200, "responseHeaders": headers, "body": html,
        });
        let command = json!({
            "id": self.last, "method": "Fetch.fulfillRequest", "params": params, "sessionId": self.session,
        });
        self.commands
            .write_all(format!("{command}\0").as_bytes())
            .await
            .expect("the browser listens");
    }

    /// Returns the value of an expression in the page; promises are awaited.
    ///
    /// # Panics
    /// It throws.
    pub async fn eval(&mut self, expression: &str) -> Value {
        let value = self.evaluate(expression).await;
        value.unwrap_or_else(|refusal| panic!("{expression}: {refusal}"))
    }

    async fn evaluate(&mut self, expression: &str) -> Result<Value, Value> {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.ask("Runtime.evaluate", params).await?;
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        Ok(answer["result"]["value"].take())
    }

    /// Waits until an expression is true in the page, and the page is loaded with its styles.
    ///
    /// # Panics
    /// It never is.
    pub async fn until(&mut self, expression: &str) {
        let deadline = tokio::time::Instant::now() + patience();
        let asked = format!(
            "(() => {{ try {{ return document.readyState === 'complete' && Boolean({expression}) }} \
             catch {{ return false }} }})()"
        );
        loop {
            match self.evaluate(&asked).await {
                Ok(Value::Bool(true)) => return,
                Ok(_) => {}
                // During a navigation no expression can be evaluated.
                Err(refusal) => assert_eq!(refusal["code"], NAVIGATING, "{expression}: {refusal}"),
            }
            assert!(tokio::time::Instant::now() < deadline, "never true in the page: {expression}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Opens an address and waits until the page is loaded.
    pub async fn open(&mut self, url: &str) {
        let went = self.call("Page.navigate", json!({ "url": url })).await;
        assert!(went["errorText"].is_null(), "{url}: {went}");
        let there = format!(
            "document.readyState === 'complete' && location.href.startsWith({})",
            json!(url.split('?').next())
        );
        self.until(&there).await;
    }

    /// Sets the width of the window, and the dark or light colour scheme.
    pub async fn set_viewport(&mut self, width: u32, dark: bool) {
        let window =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", window).await;
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", media).await;
    }

    /// Presses a key.
    pub async fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let params =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", params).await;
        }
    }

    /// Returns a screenshot of the whole page as PNG.
    ///
    /// # Panics
    /// Chromium returns none.
    pub async fn screenshot(&mut self) -> Vec<u8> {
        let params = json!({"format": "png", "captureBeyondViewport": true});
        let picture = self.call("Page.captureScreenshot", params).await;
        STANDARD.decode(picture["data"].as_str().expect("a picture")).expect("base64")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.start_kill();
        // Its child processes end a moment later, and write files until then.
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(50));
            if std::fs::remove_dir_all(&self.dir).is_ok() || !self.dir.exists() {
                return;
            }
        }
    }
}
