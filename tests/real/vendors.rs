//! What connectors send and simulated networks answer, judged by the vendors' own packages, and by the facts where a vendor has none.

use std::{collections::BTreeMap, path::PathBuf};

use fanfare_sandbox::described::Description;
use fanfare_tests::{
    tour,
    vendors::{Accepted, Judge, judged, operations},
};
use tokio::process::Command;

/// Networks without a complete package: the facts alone judge them.
const BY_FACTS: [&str; 6] = ["hashnode", "linkedin", "pinterest", "threads", "tiktok", "wordpress"];

/// Runs a script of the peer; returns what it printed.
async fn run(script: &str, args: &[&str]) -> String {
    let path = format!("{}/tests/peers/vendors/{script}", env!("CARGO_MANIFEST_DIR"));
    let ran = Command::new(&path).args(args).kill_on_drop(true).output().await.unwrap();
    let complaints = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{script}: {complaints}");
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

/// Makes the descriptions in a folder of this run, which is removed with it.
struct Described(PathBuf);

impl Described {
    async fn make() -> Self {
        let packages = run("obtain.sh", &["--check"]).await;
        let folder = std::env::temp_dir().join(format!("fanfare-vendors-{}", std::process::id()));
        let made = Self(folder);
        run("describe.py", &[&packages, made.0.to_str().unwrap()]).await;
        made
    }

    fn judges(&self) -> Vec<Judge> {
        let files = std::fs::read_dir(&self.0).unwrap().map(|file| file.unwrap().path());
        let read = |path: PathBuf| {
            let network = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let description = Description::read(&network, &text).unwrap();
            Judge { network, by: "package", description }
        };
        files.map(read).collect()
    }
}

impl Drop for Described {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_is_as_the_vendors_own_packages_describe_it() {
    let described = Described::make().await;
    let by_package = described.judges();
    let judged_by_package: Vec<_> = by_package.iter().map(|one| one.network.as_str()).collect();
    for network in fanfare_tests::networks::all() {
        assert_ne!(judged_by_package.contains(&network), BY_FACTS.contains(&network), "{network}");
    }
    let tour = Box::pin(tour::drive()).await;
    let used = operations(&by_package, &tour.exchanges);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    used.keys().for_each(|(network, _)| *counts.entry(network).or_default() += 1);
    eprintln!("{} requests and answers; operations of packages: {counts:?}", tour.exchanges.len());

    let judges: Vec<_> = by_package.into_iter().chain(Judge::kept()).collect();
    let findings = judged(&judges, &tour.exchanges);
    let accepted = Accepted::read();
    let verdict = accepted.judge(&findings, &["package", "facts"]);
    verdict
        .idle
        .iter()
        .for_each(|entry| eprintln!("warning: accepted, but not met any more: {entry}"));
    eprintln!("{}", run("newest.sh", &[described.0.to_str().unwrap()]).await);

    let today = fanfare_core::clock::to_rfc3339(fanfare_core::clock::machine_now());
    let mut wrong: Vec<_> = verdict.open.iter().map(ToString::to_string).collect();
    wrong.extend(
        accepted.outdated(&today[..10]).iter().map(|old| format!("accepted too long ago: {old}")),
    );
    assert!(wrong.is_empty(), "{} findings:\n{}", wrong.len(), wrong.join("\n"));
}
