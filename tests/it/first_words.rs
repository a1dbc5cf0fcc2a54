//! What a new installation says, and what one can do with it.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use fanfare_tests::Visitor;

use crate::service::Dir;

/// A service that was started for the first time; it ends with the story.
struct First {
    child: Child,
    /// What it said, up to the last of the commands.
    lines: Vec<String>,
}

impl First {
    /// Starts one; `line` begins with the program that is to be run.
    fn start(line: &[&str], dir: &std::path::Path) -> Self {
        let mut command = Command::new(line[0]);
        command.args(&line[1..]).env("FANFARE_DATA_DIR", dir).env("FANFARE_LISTEN", "127.0.0.1:0");
        command.env_remove("FANFARE_LOG").stdin(Stdio::null()).stderr(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let (mut lines, mut out) =
            (Vec::new(), BufReader::new(child.stdout.take().unwrap()).lines());
        while !lines.last().is_some_and(|line: &String| line.contains("list-posts")) {
            let line = out.next().expect("it goes on").expect("a line");
            lines.push(line.trim_end().to_owned());
        }
        Self { child, lines }
    }

    fn starting(&self, start: &str) -> &str {
        let found = self.lines.iter().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("no {start} in {:#?}", self.lines))
    }
}

impl Drop for First {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_gets_the_key_the_dashboard_and_three_commands() {
    let dir = Dir::new();
    let binary = env!("CARGO_BIN_EXE_fanfare");
    // The service is in a session of its own there, and ends with the terminal all the same.
    let line = format!("exec setpriv --pdeathsig KILL -- {binary} up");
    let first = First::start(&["script", "-qec", &line, "/dev/null"], &dir);
    let logged: Vec<_> = first.lines.iter().filter(|line| line.contains("INFO")).collect();
    assert!(logged.len() <= 1 && logged.iter().all(|line| line.contains("schema")), "{logged:?}");
    let origin = first.starting("Fanfare is at ").split(' ').nth(3).unwrap();
    let key = first.starting("fan_");
    assert!(first.starting("The dashboard is at ").contains(&format!("{origin}/dashboard")));

    // The link logs in once.
    let link = first.starting("http");
    let path = link.strip_prefix(origin).expect("a link of this service").to_owned();
    let mut owner = Visitor::of(origin);
    let password = "a long enough password".to_owned();
    let fields = [("password", password.clone()), ("password_again", password)];
    let set = owner.submit(&path, &fields).await.expect(303);
    let _ = owner.get(&set.location).await.expect(200);
    let used = Visitor::of(origin).submit(&path, &fields).await;
    assert!(used.status >= 400, "{}", used.html);

    // The commands do what is said of them.
    let begin = first.lines.iter().position(|line| line.starts_with("export ")).unwrap();
    let commands = first.lines[begin..].join("\n");
    assert!(commands.contains(key) && commands.lines().count() == 4, "{commands}");
    let shell = move || Command::new("sh").args(["-ec", &commands]).output().unwrap();
    let ran = tokio::task::spawn_blocking(shell).await.unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(said.lines().last().unwrap().contains("Hello from Fanfare"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn elsewhere_it_stays_together() {
    let dir = Dir::new();
    let first = First::start(&[env!("CARGO_BIN_EXE_fanfare"), "up"], &dir);
    assert!(first.lines[0].starts_with("Fanfare is at "), "{:#?}", first.lines);
    assert!(!first.lines.iter().any(|line| line.contains("INFO")), "{:#?}", first.lines);
    let _ = (first.starting("fan_"), first.starting("The dashboard is at "));
}
