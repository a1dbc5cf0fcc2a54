//! The protocol of one change on a network that must happen once: begin, call, complete; or retry, wait, refresh the
//! tokens, reconcile a lost answer, give up.
//!
//! The order is here and nowhere else. [`RemoteWork`] is what is particular to a kind of work: its row, its statements,
//! its calls, and what it makes of an outcome.

mod finding;
mod refresh;

use std::{borrow::Cow, time::Duration};

use fanfare_core::{
    Result,
    mutation::{self, Mutation},
};
use fanfare_entities::{Millis, account};
use fanfare_platforms::{
    self as platforms, ErrorKind, Phase, PlatformId, Progress, ReconcileOutcome, RecoveryClass,
    Session, Step,
};
use fanfare_publishing::{
    accounts,
    lost_calls::Verdict,
    retry_action::{RetryAction, decide},
};

use finding::limit_end;
pub use finding::{Finding, Unsettled, judge};

use crate::Context;

/// The longest time between recording a commit call and making it, in ms: the call must be over before anybody asks about
/// it, ten seconds after the recorded deadline, and clocks differ a little.
const MAX_START_DELAY: Millis = 5_000;

/// The action after a step.
#[derive(Debug)]
pub enum Next {
    /// The next step.
    Step,
    /// The same step again, with fresh tokens.
    Refresh(platforms::Error),
    /// Nothing: the row was given back, or another worker has it.
    Done,
}

/// The failpoints before and after a call.
#[derive(Debug)]
pub struct Failpoints {
    /// The step is on disk.
    pub begun: fn(Phase) -> &'static str,
    /// The call was made.
    pub called: fn(Phase) -> &'static str,
}

/// Work of one kind on one claimed row.
pub trait RemoteWork {
    /// The right to make a call: a slot, a place in a rate limit. Dropped when the call has ended.
    type Permit;

    /// The names of its failpoints.
    const FAILPOINTS: Failpoints;

    /// Returns the worker.
    fn cx(&self) -> &Context;

    /// Returns the network.
    fn platform(&self) -> PlatformId;

    /// Returns the unsettled commit call, if there is one: it may have been carried out.
    fn unsettled(&self, session: &Session) -> Option<Unsettled>;

    /// Returns the next step. Pure.
    fn next_step(&self) -> Step;

    /// Acquires what the step needs. Returns `None` if the row was given back instead: it is too early, or all is taken.
    async fn acquire(
        &mut self,
        step: &Step,
        account: &account::Model,
        session: &Session,
    ) -> Result<Option<Self::Permit>>;

    /// Adds the step to the ledger of the row, in memory.
    fn note_begin(&mut self, step: &Step, now: Millis);

    /// Writes that the step begins now, with its deadline. Returns false if it may not: another worker has the row, or it
    /// is not its turn.
    async fn write_begin(&mut self, step: &Step, now: Millis) -> Result<bool>;

    /// Starts what was acquired, once the step is on disk.
    async fn start(&mut self, step: &Step, permit: &mut Self::Permit, now: Millis) {
        let _ = (step, permit, now);
    }

    /// Gives the row back, and what was acquired, because the step may not begin.
    async fn withdraw(&mut self, permit: Self::Permit) -> Result<()>;

    /// Makes the call of the step.
    async fn call(&self, session: &Session) -> platforms::Result<Progress>;

    /// Runs a call while the lease is renewed.
    async fn while_leased<T>(&self, call: impl Future<Output = T>) -> T;

    /// Notes the answer of a step in the ledger of the row, in memory.
    fn note_end(&mut self, step: &Step, answer: &platforms::Result<Progress>);

    /// Handles success: completes the row, waits, or goes on.
    async fn advance(&mut self, progress: Progress) -> Result<Next>;

    /// Handles an answer that means something particular to this kind. Returns false for all others.
    async fn handle_particular(
        &mut self,
        action: RetryAction,
        error: &platforms::Error,
        session: &Session,
    ) -> Result<bool>;

    /// Returns true if what the call of this step does not find may be there a moment later.
    fn may_be_found_later(&self, step: &Step) -> bool {
        let _ = step;
        false
    }

    /// Forgets the call, whose answer is known.
    fn forget_call(&mut self);

    /// Tries again later, which costs one of the retries; fails if none are left.
    async fn retry(&mut self, error: &platforms::Error) -> Result<()>;

    /// Waits as long as the network asks, which costs nothing; fails if that is too late.
    async fn wait(&mut self, error: &platforms::Error) -> Result<()>;

    /// Waits for another process that refreshes the tokens.
    async fn wait_for_tokens(&mut self) -> Result<()>;

    /// Ends the row for this error.
    async fn stop(&mut self, error: &platforms::Error) -> Result<()>;

    /// Ends the row because the network no longer accepts the account, which is noted already.
    async fn stop_reconnect(&mut self, error: &platforms::Error) -> Result<()>;

    /// Ends the row because the account's tokens cannot be refreshed, which is noted already.
    async fn stop_tokens(&mut self, error: &platforms::Error) -> Result<()>;

    /// Ends the row because the stored credentials cannot be opened.
    async fn stop_unreadable(&mut self) -> Result<()>;

    /// Ends the row because its account is no longer connected.
    async fn stop_disconnected(&mut self) -> Result<()>;

    /// Handles a commit call without an answer.
    async fn lost(&mut self, error: platforms::Error, session: &Session) -> Result<Next>;

    /// Returns true if the row asks the network what became of a refused call whose refusal leaves that open.
    fn looks_up(&self, error: &platforms::Error) -> bool;

    /// Handles a refusal that does not tell whether the commit call was carried out.
    async fn doubt(&mut self, error: platforms::Error, session: &Session) -> Result<Next>;

    /// Gives the row back until a lost call can be asked about.
    async fn wait_until_settled(&mut self, at: Millis) -> Result<()>;

    /// Gives the row back until the network may be read again, which limits that. The wait does not count as asking.
    async fn wait_for_reads(&mut self, at: Millis) -> Result<()> {
        self.wait_until_settled(at).await
    }

    /// Acquires and records what asking the network needs. Returns `None` if the row was given back instead.
    async fn begin_question(&mut self) -> Result<Option<Self::Permit>>;

    /// Asks the network what became of the unsettled call.
    async fn ask(&self, session: &Session, since: Millis) -> platforms::Result<ReconcileOutcome>;

    /// Judges what the network says.
    async fn judge(&self, session: &Session, outcome: ReconcileOutcome) -> Result<Verdict>;

    /// Acts on what is known of an unsettled call. [`Next::Step`] repeats it, which is harmless then.
    async fn conclude(&mut self, finding: Finding) -> Result<Next>;

    /// The longest time that asking the network may take.
    const QUESTION_TIMEOUT: Duration;
}

/// Takes all steps that can be taken now: settles a call whose answer was lost, and then goes on until the row is complete,
/// has failed or must wait.
///
/// # Errors
/// The database's; then the lease expires.
pub async fn execute<W: RemoteWork>(
    work: &mut W,
    account: &account::Model,
    mut session: Session,
) -> Result<()> {
    if let Some(call) = work.unsettled(&session)
        && mutation::is_off(Mutation::Reconciled)
        && matches!(reconcile(work, call, &session).await?, Next::Done)
    {
        return Ok(());
    }
    let mut is_fresh = false;
    let mut account = Cow::Borrowed(account);
    let mut stale = refresh::expiring(work, &account);
    if stale.is_none()
        && let Some((row, fresh)) = refresh::renew_early(work, &account).await?
    {
        (account, session, is_fresh) = (Cow::Owned(row), fresh, true);
    }
    loop {
        let next = match stale.take() {
            Some(error) => Next::Refresh(error),
            None => step(work, &account, &mut session).await?,
        };
        match next {
            Next::Step => is_fresh = false,
            Next::Done => return Ok(()),
            Next::Refresh(error) if is_fresh => {
                return refresh::stop_tokens(work, &account, &error).await;
            }
            Next::Refresh(error) => match refresh::refresh(work, &account, &error).await? {
                Some((row, again, renewed)) => {
                    (account, session, is_fresh) = (Cow::Owned(row), again, renewed);
                }
                None => return Ok(()),
            },
        }
    }
}

/// Takes one step: acquire, record, call, handle the answer.
async fn step<W: RemoteWork>(
    work: &mut W,
    account: &account::Model,
    session: &mut Session,
) -> Result<Next> {
    let step = work.next_step();
    let Some(mut permit) = work.acquire(&step, account, session).await? else {
        return Ok(Next::Done);
    };
    if !begin(work, &step, &mut permit).await? && mutation::is_off(Mutation::BeginStepObeyed) {
        work.withdraw(permit).await?;
        return Ok(Next::Done);
    }
    session.now = work.cx().domain.clock.date();
    let answer = work.while_leased(work.call(session)).await;
    work.cx().failpoint.reach((W::FAILPOINTS.called)(step.phase)).await;
    drop(permit);
    work.note_end(&step, &answer);
    match answer {
        Ok(progress) => work.advance(progress).await,
        Err(error) => handle_error(work, &step, account, (error, session)).await,
    }
}

/// Records that a step begins, and again if its call would come late: a worker that was frozen meanwhile, or delayed by a
/// slow database, may have lost the row or may lose it soon. Returns false if the call may not be made.
pub async fn begin<W: RemoteWork>(
    work: &mut W,
    step: &Step,
    permit: &mut W::Permit,
) -> Result<bool> {
    let cx = work.cx().clone();
    let clock = &cx.domain.clock;
    let (mut asked, now) = (clock.elapsed_ms(), clock.now());
    work.note_begin(step, now);
    let mut held = work.write_begin(step, now).await?;
    if held {
        tracing::debug!(step = step.name, phase = step.phase.as_str(), "a step begins");
        cx.failpoint.reach((W::FAILPOINTS.begun)(step.phase)).await;
        work.start(step, permit, now).await;
    }
    while held
        && step.phase == Phase::Commit
        && clock.elapsed_ms() - asked > MAX_START_DELAY
        && mutation::is_off(Mutation::CommitAtOnce)
    {
        tracing::warn!("a commit call came late to its start; the lease is asked for again");
        asked = clock.elapsed_ms();
        held = work.write_begin(step, clock.now()).await?;
    }
    Ok(held)
}

/// Handles the error of a step, as the table of [`decide`] says.
async fn handle_error<W: RemoteWork>(
    work: &mut W,
    step: &Step,
    account: &account::Model,
    (error, session): (platforms::Error, &Session),
) -> Result<Next> {
    let error = as_not_yet(work, step, error, session).await;
    let mut action = decide(error.kind, step.phase);
    if action == RetryAction::Lost && mutation::is_on(Mutation::LostIsNotFailed) {
        action = RetryAction::Retry;
    }
    if action == RetryAction::Lost {
        return work.lost(error, session).await;
    }
    if step.phase == Phase::Commit && error.leaves_open() && work.looks_up(&error) {
        return match error.kind {
            ErrorKind::Transient => work.lost(error, session).await,
            _ => work.doubt(error, session).await,
        };
    }
    if work.handle_particular(action, &error, session).await? {
        return Ok(Next::Done);
    }
    work.forget_call();
    match action {
        RetryAction::Refresh => return Ok(Next::Refresh(error)),
        RetryAction::Retry => work.retry(&error).await?,
        RetryAction::Wait => work.wait(&error).await?,
        RetryAction::Reconnect => {
            let (cx, used) = (work.cx().domain.clone(), account.secret_id);
            if !accounts::mark_needs_reconnect(&cx, account.id, used).await? {
                // It was connected again meanwhile.
                return Ok(Next::Refresh(error));
            }
            work.stop_reconnect(&error).await?;
        }
        RetryAction::Stop | RetryAction::Duplicate | RetryAction::Lost => work.stop(&error).await?,
    }
    Ok(Next::Done)
}

/// Rewords an answer that something is not found which may be there a moment later: what was made in an earlier step, or
/// what sounds as if it were the account and is not. It does not tell whether the call was carried out.
async fn as_not_yet<W: RemoteWork>(
    work: &W,
    step: &Step,
    error: platforms::Error,
    session: &Session,
) -> platforms::Error {
    if !error.is_not_found() {
        return error;
    }
    let may_pass = match error.kind {
        ErrorKind::Reconnect | ErrorKind::InvalidCredentials => !is_refused(work, session).await,
        _ => work.may_be_found_later(step),
    };
    if may_pass { platforms::Error { kind: ErrorKind::Transient, ..error } } else { error }
}

/// Returns true if the network says, asked about the account itself, that it does not accept it.
async fn is_refused<W: RemoteWork>(work: &W, session: &Session) -> bool {
    let connector = (work.cx().connector)(work.platform());
    let asked = tokio::time::timeout(W::QUESTION_TIMEOUT, connector.verify(session));
    match work.while_leased(asked).await {
        Ok(Err(error)) => error.while_connecting().kind == ErrorKind::InvalidCredentials,
        Ok(Ok(_)) | Err(_) => false,
    }
}

/// Finds out what became of a commit call without an answer.
async fn reconcile<W: RemoteWork>(
    work: &mut W,
    call: Unsettled,
    session: &Session,
) -> Result<Next> {
    if matches!(call.class, RecoveryClass::Blind) {
        return work.conclude(Finding::Blind).await;
    }
    let settled_from = call.settled_from();
    if work.cx().now() < settled_from {
        work.wait_until_settled(settled_from).await?;
        return Ok(Next::Done);
    }
    let Some(permit) = work.begin_question().await? else { return Ok(Next::Done) };
    let (call, now) = (work.unsettled(session).unwrap_or(call), work.cx().now());
    let answer = told(work, call.since(), session).await;
    drop(permit);
    let verdict = match answer {
        Some(Ok(outcome)) => work.judge(session, outcome).await?,
        Some(Err(error)) => match limit_end(&error, call.sent_at, now) {
            Some(at) => {
                work.wait_for_reads(at).await?;
                return Ok(Next::Done);
            }
            None => Verdict::Doubt,
        },
        None => Verdict::Doubt,
    };
    work.conclude(call.finding(verdict, now)).await
}

/// Asks the network about a call that began at `since`. Returns `None` if it does not say.
pub async fn question<W: RemoteWork>(
    work: &W,
    since: Millis,
    session: &Session,
) -> Option<ReconcileOutcome> {
    told(work, since, session).await?.ok()
}

/// Asks the network about a call that began at `since`. Returns `None` if it does not answer in time.
async fn told<W: RemoteWork>(
    work: &W,
    since: Millis,
    session: &Session,
) -> Option<platforms::Result<ReconcileOutcome>> {
    let session = session.asking_anew((work.cx().connector)(work.platform()).spec());
    let asked = tokio::time::timeout(W::QUESTION_TIMEOUT, work.ask(&session, since));
    work.while_leased(asked).await.ok()
}
