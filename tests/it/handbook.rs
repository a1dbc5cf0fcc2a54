//! README, the operators' handbook and the pages of measurements: their commands are commands, their lines run, and each
//! promise names a story.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use fanfare_core::{UserId, WorkspaceId, access::Role};
use fanfare_people::users;
use fanfare_tests::{Options, Receiver, TestApp};
use serde_json::json;

use crate::service::{Dir, Service, eventually};

const README: &str = include_str!("../../README.md");
const HANDBOOK: &str = include_str!("../../docs/operations.md");
const RELIABILITY: &str = include_str!("../../docs/reliability.md");
const PERFORMANCE: &str = include_str!("../../docs/performance.md");

/// Returns the commands that a text names, each as it stands up to the end of its line or quotation.
fn commands(text: &str) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    for (place, _) in text.match_indices("fanfare ") {
        let before = text[..place].trim_end_matches(' ');
        let begins = before.is_empty() || before.ends_with(['\n', '`', '(', '&', ';', '|']);
        let is_cargo = before.ends_with("cargo run --");
        if !begins && !is_cargo {
            continue;
        }
        let line = text[place..].split(['\n', '`', '#', ')', '&', '|', ';']).next().unwrap();
        found.insert(line.split_whitespace().skip(1).map(str::to_owned).collect());
    }
    for (place, start) in text.match_indices("cargo run -- ") {
        let line = text[place + start.len()..].split(['\n', '`', '#']).next().unwrap();
        found.insert(line.split_whitespace().map(str::to_owned).collect());
    }
    found
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_ascii_lowercase())
        && token.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

#[test]
fn every_command_that_is_named_is_one() {
    let guides = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guides")).unwrap();
    let guides = guides.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let texts: Vec<_> = guides.chain([README.to_owned(), HANDBOOK.to_owned()]).collect();
    let all: BTreeSet<_> = texts.iter().flat_map(|text| commands(text)).collect();
    assert!(all.len() > 40, "{all:?}");
    let mut wrong = Vec::new();
    for command in all {
        let words: Vec<_> = command.iter().take_while(|token| is_word(token)).collect();
        let help = Command::new(env!("CARGO_BIN_EXE_fanfare")).args(&words).arg("--help").output();
        let help = help.unwrap();
        let said = String::from_utf8_lossy(&help.stdout);
        let flags = command.iter().filter(|token| token.starts_with("--"));
        let flags = flags.map(|flag| flag.split('=').next().unwrap());
        let unknown: Vec<_> = flags.filter(|flag| !said.contains(flag)).collect();
        // `--help` is taken before a word that is no command is refused: the usage names the whole command.
        let usage = said.lines().find(|line| line.starts_with("Usage:")).unwrap_or_default();
        let is_one = words.first().is_none_or(|first| usage.contains(first.as_str()));
        if !help.status.success() || !unknown.is_empty() || !is_one {
            wrong.push(format!("fanfare {}: {unknown:?} {usage}", command.join(" ")));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_post_of_readme_goes_out() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    let chapter = README.split("## The first post").nth(1).unwrap().split("\n## ").next().unwrap();
    let blocks = chapter.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    let lines = blocks.collect::<String>();
    assert!(lines.contains("KEY=fan_…") && lines.contains("http://127.0.0.1:8080"), "{lines}");
    let lines = lines
        .replace("fan_…", service.key.as_deref().unwrap())
        .replace("http://127.0.0.1:8080", &service.origin);
    let ran = Command::new("bash").args(["-euo", "pipefail", "-c", &lines]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said} {}", String::from_utf8_lossy(&ran.stderr));
    assert!(said.contains("\"post\":{") && !said.contains("validation_errors"), "{said}");
    let user = service.user();
    eventually("the post is public", || async {
        let shown = user.on_network("bluesky", 1).await;
        shown.iter().any(|post| post["text"] == "Hello from Fanfare").then_some(())
    })
    .await;
    let posts = user.get("/api/v1/posts").await.expect(200).body;
    let mut posts = posts["posts"].as_array().unwrap().iter();
    let later = posts.find(|post| post["caption"] == "In a minute").unwrap();
    assert_eq!(later["status"], json!("scheduled"));
}

/// Returns the file of a module of the stories.
fn file(modules: &[&str]) -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(modules.join("/"));
    [place.with_extension("rs"), place.join("mod.rs")].into_iter().find(|file| file.is_file())
}

#[test]
fn every_promise_names_a_story_that_is_there() {
    for (text, least) in [(HANDBOOK, 20), (RELIABILITY, 10), (PERFORMANCE, 5)] {
        let table = text.split("| Promise | Story |").nth(1).unwrap();
        let rows: Vec<_> =
            table.lines().skip(2).take_while(|line| line.starts_with("| ")).collect();
        assert!(rows.len() > least, "{rows:?}");
        for row in rows {
            let stories = row.rsplit_once(" | ").unwrap().1;
            let mut named = stories.split('`').skip(1).step_by(2).peekable();
            assert!(named.peek().is_some(), "{row}");
            for story in named {
                let mut modules: Vec<_> = story.split("::").collect();
                let name = modules.pop().unwrap();
                let file = file(&modules).unwrap_or_else(|| panic!("{story}: no such file"));
                let text = std::fs::read_to_string(file).unwrap();
                let is_there = text.contains(&format!("fn {name}("));
                assert!(is_there && text.contains("#[t"), "{story} is not there");
            }
        }
    }
}

/// Returns what follows `start` in a text, up to a character that cannot belong to a name.
fn named_after<'a>(text: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    let end = |rest: &'a str| {
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_, ".contains(c)));
        &rest[..length.unwrap_or(rest.len())]
    };
    text.match_indices(start).map(move |(place, _)| end(&text[place + start.len()..]))
}

#[test]
fn every_run_that_a_figure_names_is_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let (chaos, bench) = (read("chaos/main.rs"), read("bench/main.rs"));
    for text in [HANDBOOK, RELIABILITY, PERFORMANCE] {
        for (command, parts) in [("make chaos ONLY=", &chaos), ("make bench ONLY=", &bench)] {
            let quoted = format!("{command}\"");
            let named = named_after(text, command).map(|all| all.split(' ').next().unwrap());
            let named = named.chain(named_after(text, &quoted).collect::<Vec<_>>());
            for part in named.flat_map(|all| all.split([',', ' '])).filter(|part| !part.is_empty())
            {
                assert!(parts.contains(&format!("\"{part}\"")), "{command}{part}");
            }
        }
    }
    // The tables of faults name a module of stories, or the simulation.
    let modules: Vec<_> = named_after(RELIABILITY, "`make test` (`").collect();
    assert!(modules.len() > 6, "{modules:?}");
    for name in modules {
        let places = ["it", "it/conformance"].map(|place| root.join(place).join(name));
        let is_file = places.iter().any(|place| place.with_extension("rs").is_file());
        assert!(is_file || root.join("it").join(name).join("mod.rs").is_file(), "{name}");
    }
}

/// Commands of the handbook that only name a group of others or serve until they are stopped, and those that other stories run with
/// what they need: a payment provider, a simulator, an address, all that a machine lacks.
const NOT_RUN: [&str; 13] = [
    "",
    "admin",
    "admin member",
    "admin plan",
    "api",
    "billing setup",
    "doctor",
    "key",
    "key create",
    "ops",
    "sandbox",
    "sandbox --show",
    "worker",
];

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_handbook_do_what_they_are_named_for() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let me = user.get("/api/v1/whoami").await.expect(200).body;
    let workspace = me["default_workspace"]["id"].as_str().unwrap().to_owned();
    let owner = UserId(me["user"]["id"].as_str().unwrap().parse().unwrap());
    let (bob, key) = app.member(WorkspaceId(workspace.parse().unwrap()), Role::Editor).await;
    let email = key.get("/api/v1/whoami").await.expect(200).body["user"]["email"].clone();
    let brand = app.brand(WorkspaceId(workspace.parse().unwrap()), &[bob]).await;
    let account = user.connect("bluesky").await.to_string();
    let later = json!({"account_id": account.parse::<i64>().unwrap(), "caption": "Later", "scheduled_at": app.at(86_400)});
    let post = user.publish(later).await["id"].to_string();
    let hook = json!({"url": Receiver::start().await.url, "events": ["post.published"]});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"]["id"].clone();
    let mut lines: Vec<String> = commands(HANDBOOK).iter().map(|line| line.join(" ")).collect();
    // What removes something comes after what needs it.
    lines.sort_by_key(|line| line.contains("remove") || line.contains("delete"));
    let (mut ran, mut wrong) = (0, Vec::new());
    for (nth, line) in lines.iter().enumerate() {
        if NOT_RUN.contains(&line.as_str()) || line == "up" {
            continue;
        }
        let team = format!("Bakery {nth}");
        let id = users::create_workspace(&app.domain, &team, owner).await.unwrap().to_string();
        let named = if line.contains("--platform") { "bluesky" } else { team.as_str() };
        let filled = line.split(' ').map(|word| match word {
            "WORKSPACE" => workspace.clone(),
            "EMAIL" => email.as_str().unwrap().to_owned(),
            "BRAND" => brand.to_string(),
            "ID" => id.clone(),
            "NAME" => format!("'{named}'"),
            "NUMBER" if line.contains("--account") => account.clone(),
            "NUMBER" => post.clone(),
            "WEBHOOK" => hook.as_str().unwrap().to_owned(),
            word => word.to_owned(),
        });
        let mut filled = filled.collect::<Vec<_>>().join(" ");
        // The handbook breaks the line there.
        if filled.ends_with("--error") {
            filled.push_str(" outcome_unknown");
        }
        let binary = env!("CARGO_BIN_EXE_fanfare");
        let mut shell = Command::new("bash");
        let ready = crate::worker::command(&app);
        shell.envs(ready.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let script = format!("echo 'A password of mine' | '{binary}' {filled}");
        let out = shell.args(["-o", "pipefail", "-c", &script]).output().unwrap();
        if !out.status.success() {
            wrong.push(format!("{filled}: {}", String::from_utf8_lossy(&out.stderr)));
        }
        ran += 1;
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(ran > 20, "{lines:?}");
}
