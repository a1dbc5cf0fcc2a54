//! The drop page in a real browser: files are dropped, pasted and chosen, by mouse, finger and keyboard, on a wide screen
//! and on a phone, in the light and in the dark. With `TEST_PICTURES=<directory>` pictures are kept there.

use std::path::PathBuf;

use fanfare_tests::{Browser, Options, TestApp, User, files};
use serde_json::{Value, json};

use crate::dashboard::{FAINT, keep};

async fn app() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

async fn drop_page(user: &User, body: Value) -> Value {
    user.post("/api/v1/media/drop-sessions", body).await.expect(201).body
}

/// Files on disk, for the browser to choose.
fn on_disk(app: &TestApp) -> Vec<String> {
    let all = [
        ("harbour at night.png", files::png()),
        ("opening.mp4", files::mp4(2_500_000)),
        ("IMG_4711.HEIC", files::heic()),
        ("programme.pdf", files::pdf()),
        ("not really.png", b"plain text".to_vec()),
    ];
    let write = |(name, bytes): (&str, Vec<u8>)| {
        let path: PathBuf = app.dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    all.into_iter().map(write).collect()
}

async fn choose(browser: &mut Browser, paths: &[String]) {
    let root = browser.call("DOM.getDocument", json!({})).await["root"]["nodeId"].clone();
    let field = json!({"nodeId": root, "selector": "#files"});
    let field = browser.call("DOM.querySelector", field).await["nodeId"].clone();
    browser.call("DOM.setFileInputFiles", json!({"files": paths, "nodeId": field})).await;
}

/// Bytes per second that the browser can send; `None`: nothing at all, -1: as many as it likes.
async fn line(browser: &mut Browser, speed: Option<i64>) {
    let conditions = json!({"offline": speed.is_none(), "latency": 0, "downloadThroughput": -1,
        "uploadThroughput": speed.unwrap_or(0)});
    browser.call("Network.emulateNetworkConditions", conditions).await;
}

/// Gives a file to the page by an event, as a hand on the desktop or the clipboard does.
async fn give(browser: &mut Browser, event: &str, name: &str) {
    let gif = json!(files::gif());
    let (kind, carries) = if event == "paste" {
        ("ClipboardEvent", "clipboardData")
    } else {
        ("DragEvent", "dataTransfer")
    };
    let script = format!(
        "(() => {{ const all = new DataTransfer(); \
         all.items.add(new File([new Uint8Array({gif})], {name:?}, {{ type: 'image/gif' }})); \
         document.body.dispatchEvent(new {kind}({event:?}, {{ {carries}: all, bubbles: true, cancelable: true }})); }})()"
    );
    browser.eval(&script).await;
}

async fn says(browser: &mut Browser, name: &str) -> String {
    let script = format!(
        "[...document.querySelectorAll('#list li')].filter((line) => line.querySelector('.name').textContent === {name:?}) \
         .map((line) => line.querySelector('.says').textContent).join()"
    );
    browser.eval(&script).await.as_str().unwrap_or_default().to_owned()
}

async fn click(browser: &mut Browser, label: &str) {
    browser.eval(&format!("document.querySelector('[aria-label=\"{label}\"]').click()")).await;
}

async fn names(user: &User, page: &Value) -> Vec<String> {
    let path = format!("/api/v1/media?drop_session_id={}", page["session_id"].as_str().unwrap());
    let media = user.get(&path).await.expect(200).body["media"].clone();
    let names = media.as_array().unwrap().iter();
    names.rev().map(|file| file["filename"].as_str().unwrap().to_owned()).collect()
}

/// Loads the page anew, and waits until it is there.
async fn reload(browser: &mut Browser, then: &str) {
    browser.eval("window.isOld = true").await;
    browser.call("Page.reload", json!({})).await;
    browser.until(&format!("!window.isOld && document.readyState === 'complete' && {then}")).await;
}

/// Can the page be read at every width, in the light and in the dark?
async fn look(browser: &mut Browser, name: &str) {
    for (width, dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
        browser.set_viewport(width, dark).await;
        keep(browser, &format!("{name}-{width}-{}", if dark { "dark" } else { "light" })).await;
        let wide = browser.eval("document.documentElement.scrollWidth").await.as_u64();
        assert!(wide <= Some(u64::from(width)), "{name} is {wide:?} wide at {width}");
        assert_eq!(browser.eval(FAINT).await, json!([]), "{name} at {width}, dark: {dark}");
    }
}

#[tokio::test]
async fn files_are_chosen_dropped_and_pasted_and_each_says_how_it_is_doing() {
    let app = app().await;
    let user = app.user().await;
    let page = drop_page(&user, json!({"filename": "Photos of the opening", "max_files": 4})).await;
    let mut browser = Browser::start().await;
    browser.open(page["drop_url"].as_str().unwrap()).await;
    look(&mut browser, "drop-empty").await;
    let chosen = on_disk(&app);
    choose(&mut browser, &chosen).await;
    browser
        .until("document.getElementById('status').textContent.startsWith('2 files sent.')")
        .await;
    assert!(says(&mut browser, "harbour at night.png").await.starts_with("Sent"));
    assert_eq!(says(&mut browser, "opening.mp4").await, "Sent, 2.5 MB");
    assert!(says(&mut browser, "IMG_4711.HEIC").await.contains("Save it as JPEG"));
    assert!(says(&mut browser, "programme.pdf").await.contains("JPEG or PNG pictures"));
    browser.until("document.querySelectorAll('#list .failed').length === 3").await;
    assert!(says(&mut browser, "not really.png").await.contains("type that is not known"));
    look(&mut browser, "drop-sent").await;
    for name in ["IMG_4711.HEIC", "programme.pdf", "not really.png"] {
        click(&mut browser, &format!("Remove {name}")).await;
    }
    assert_eq!(browser.eval("document.querySelectorAll('#list li').length").await, 2);
    give(&mut browser, "drop", "dropped.gif").await;
    browser
        .until("document.getElementById('status').textContent.startsWith('3 files sent.')")
        .await;
    give(&mut browser, "paste", "pasted.gif").await;
    browser.until("document.getElementById('status').textContent.includes('All files of this page are in.')").await;
    browser.until("getComputedStyle(document.querySelector('.zone')).display === 'none'").await;
    look(&mut browser, "drop-full").await;
    let mut kept = names(&user, &page).await;
    kept.sort();
    assert_eq!(kept, ["dropped.gif", "harbour at night.png", "opening.mp4", "pasted.gif"]);
    let complaints: Vec<_> =
        browser.complaints.iter().filter(|said| !said.contains("status of 400")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    reload(&mut browser, "document.querySelector('h1').textContent === 'This page is closed'")
        .await;
    look(&mut browser, "drop-closed").await;
}

#[tokio::test]
async fn a_broken_connection_is_tried_again_and_a_slow_one_can_be_cancelled() {
    let app = app().await;
    let user = app.user().await;
    let page = drop_page(&user, json!({})).await;
    let mut browser = Browser::start().await;
    browser.open(page["drop_url"].as_str().unwrap()).await;
    line(&mut browser, None).await;
    give(&mut browser, "drop", "torn.gif").await;
    browser.until("document.querySelectorAll('#list .failed').length === 1").await;
    assert_eq!(says(&mut browser, "torn.gif").await, "The connection broke.");
    line(&mut browser, Some(-1)).await;
    click(&mut browser, "Try torn.gif again").await;
    browser.until("document.querySelectorAll('#list .done').length === 1").await;
    line(&mut browser, Some(100_000)).await;
    let chosen = on_disk(&app);
    choose(&mut browser, &chosen[1..2]).await;
    browser.until("document.querySelector('#list .sending progress').value > 0").await;
    look(&mut browser, "drop-sending").await;
    click(&mut browser, "Cancel opening.mp4").await;
    browser.until("document.querySelectorAll('#list li').length === 1").await;
    line(&mut browser, Some(-1)).await;
    browser.until("document.getElementById('status').textContent.startsWith('1 file sent.')").await;
    assert_eq!(names(&user, &page).await, ["torn.gif"]);
}

#[tokio::test]
async fn the_page_needs_no_mouse_and_no_script() {
    let app = app().await;
    let user = app.user().await;
    let page = drop_page(&user, json!({})).await;
    let mut browser = Browser::start().await;
    browser.open(page["drop_url"].as_str().unwrap()).await;
    browser.set_viewport(1280, false).await;
    browser.press("Tab", 9).await;
    assert_eq!(browser.eval("document.activeElement.id").await, "files");
    let ring = "getComputedStyle(document.querySelector('label[for=files]')).outlineStyle";
    assert_eq!(browser.eval(ring).await, "solid", "where the keyboard is can be seen");
    browser.call("Emulation.setTouchEmulationEnabled", json!({"enabled": true})).await;
    browser.set_viewport(390, false).await;
    reload(&mut browser, "document.documentElement.className === 'scripted' && innerWidth === 390")
        .await;
    let small = "[...document.querySelectorAll('.button, button')].filter((b) => b.offsetHeight && b.offsetHeight < 40).length";
    assert_eq!(browser.eval(small).await, 0, "fingers need room");
    assert_ne!(
        browser.eval("document.querySelector('.camera').offsetHeight").await,
        0,
        "phones have cameras"
    );
    keep(&mut browser, "drop-touch-390-light").await;
    browser.call("Emulation.setScriptExecutionDisabled", json!({"value": true})).await;
    reload(&mut browser, "document.documentElement.className === ''").await;
    look(&mut browser, "drop-plain").await;
    let chosen = on_disk(&app);
    choose(&mut browser, &chosen[..3]).await;
    browser.eval("document.querySelector('button[type=submit]').click()").await;
    browser.until("document.querySelectorAll('.flash').length === 3").await;
    look(&mut browser, "drop-plain-sent").await;
    assert_eq!(names(&user, &page).await, ["harbour at night.png", "opening.mp4"]);
}
