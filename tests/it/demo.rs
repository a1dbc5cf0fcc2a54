//! `fanfare demo`, as a newcomer runs it.

use std::process::{Command, Stdio};

#[tokio::test]
async fn the_demo_publishes_everywhere_with_a_caption_and_an_image_of_models() {
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
        command.arg("demo").stdin(Stdio::null()).output().expect("the demo runs")
    };
    let ran = tokio::task::spawn_blocking(run).await.unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let told = format!("{said}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{told}");
    assert!(said.contains("A caption by sandbox-text for 1 credit: "), "{told}");
    assert!(said.contains("40 kinds of bread") && said.contains("An image by "), "{told}");
    let networks = fanfare_platforms::all().len();
    assert_eq!(said.matches("published ").count(), networks + 1, "{told}");
    assert!(said.lines().any(|line| line.starts_with("x (models)")), "{told}");
}
