//! `fanfare login` and `fanfare logout`.

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use tokio::sync::oneshot;

use super::{
    callback::{Callback, CallbackAnswer, ResultPage},
    oauth::{AuthorizationServer, LoginAttempt, LoginError, Tokens},
    profile::{Profile, ProfileOptions},
};

/// The time for which the user has to decide.
const DECISION_TIMEOUT: Duration = Duration::from_secs(300);

/// The ways to log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginMethod {
    /// A browser on this machine, which is redirected back to this process.
    Browser,
    /// A browser anywhere, which shows a code to type in here.
    Code,
    /// An API key, typed in here.
    Key,
}

/// Stores a profile and ends the log-in of the one it replaces; returns the path of the file.
///
/// # Errors
/// The file of the profiles cannot be read or written.
pub async fn store_profile(given: &ProfileOptions, profile: Profile) -> Result<PathBuf> {
    let earlier = given.stored()?;
    let place = given.store(Some(profile)).await?;
    end_login(&earlier).await;
    Ok(place)
}

/// Logs in; returns the resulting profile, which is not stored yet.
///
/// # Errors
/// The service does not answer, the user denied access, or did not decide within five minutes.
pub async fn login(given: &ProfileOptions, way: LoginMethod) -> Result<Profile> {
    let url = given.origin()?;
    let (key, tokens) = match way {
        LoginMethod::Key => (
            Some(read_line("API key (from the first start, or from /dashboard/api): ").await?),
            None,
        ),
        LoginMethod::Browser => {
            (None, Some(by_browser(&AuthorizationServer::discover(&url).await?).await?))
        }
        LoginMethod::Code => {
            (None, Some(by_code(&AuthorizationServer::discover(&url).await?, &url).await?))
        }
    };
    Ok(Profile { url: Some(url), key, tokens })
}

async fn by_browser(server: &AuthorizationServer) -> Result<Tokens> {
    let mut callback = Callback::open().await?;
    let attempt = LoginAttempt::new(callback.address());
    let place = server.authorize(&attempt)?;
    print_line(&format!(
        "Log in and allow the command line in your browser, at this address:\n\n{place}\n"
    ));
    if webbrowser::open(place.as_str()).is_err() {
        print_line(
            "No browser could be opened here. Open the address yourself, or use --no-browser.",
        );
    }
    let done =
        tokio::time::timeout(DECISION_TIMEOUT, wait_for_answer(server, &attempt, &mut callback))
            .await;
    callback.close().await;
    done.unwrap_or_else(|_| bail!(LoginError::TimedOut))
}

/// Waits for the response to this attempt; others are refused.
async fn wait_for_answer(
    server: &AuthorizationServer,
    attempt: &LoginAttempt,
    callback: &mut Callback,
) -> Result<Tokens> {
    let answer = loop {
        let answer = callback.next().await?;
        if is_answer_to(server, attempt, &answer) {
            break answer;
        }
        answer.show(ResultPage::UNRELATED);
    };
    match answer.text("error") {
        "" => {}
        "access_denied" => {
            answer.show(ResultPage::DENIED);
            bail!(LoginError::Denied);
        }
        error => {
            let said = [error, answer.text("error_description")].join(": ");
            answer.show(ResultPage::FAILED);
            bail!("{said}");
        }
    }
    let redeemed = server.redeem(attempt, answer.text("code")).await;
    answer.show(if redeemed.is_ok() { ResultPage::DONE } else { ResultPage::FAILED });
    redeemed
}

/// Returns true if a response has the state of this attempt and the issuer of this service (RFC 9207).
fn is_answer_to(
    server: &AuthorizationServer,
    attempt: &LoginAttempt,
    answer: &CallbackAnswer,
) -> bool {
    answer.text("state") == attempt.state && answer.text("iss") == server.issuer
}

async fn by_code(server: &AuthorizationServer, url: &str) -> Result<Tokens> {
    let attempt = LoginAttempt::new(format!("{url}/oauth/code"));
    let place = server.authorize(&attempt)?;
    print_line(&format!(
        "Open this address in any browser, log in and allow the command line:\n\n{place}\n"
    ));
    let code = tokio::time::timeout(DECISION_TIMEOUT, read_line("The code that it shows then: "));
    let code = code.await.unwrap_or_else(|_| bail!(LoginError::TimedOut))?;
    server.redeem(&attempt, &code).await
}

/// Reads a line from standard input.
async fn read_line(question: &'static str) -> Result<String> {
    let (read, line) = oneshot::channel();
    // A blocking task of the runtime would keep the process alive until a line is typed.
    std::thread::spawn(move || {
        if std::io::stdin().is_terminal() {
            let _ = write!(std::io::stderr(), "{question}");
        }
        let mut line = String::new();
        let _ = read.send(std::io::stdin().read_line(&mut line).map(|_| line));
    });
    let line = line.await?.context("standard input")?;
    ensure!(!line.trim().is_empty(), "nothing came on standard input");
    Ok(line.trim().to_owned())
}

fn print_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Removes the profile, and ends its log-in at the service.
///
/// # Errors
/// The file of the profiles cannot be read or written.
pub async fn logout(given: &ProfileOptions) -> Result<()> {
    let profile = given.stored()?;
    let place = given.store(None).await?;
    end_login(&profile).await;
    print_line(&format!("Forgotten in {}. To log in again: fanfare login", place.display()));
    Ok(())
}

/// Revokes the log-in of a profile that is no longer used.
async fn end_login(profile: &Profile) {
    if let (Some(url), Some(tokens)) = (&profile.url, &profile.tokens) {
        let ended = async { AuthorizationServer::discover(url).await?.revoke(tokens).await };
        if let Err(error) = ended.await {
            print_line(&format!(
                "The service could not be notified: {error:#}. End the log-in at {url}/dashboard/apps."
            ));
        }
    }
}
