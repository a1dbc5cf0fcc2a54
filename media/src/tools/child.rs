//! One run of a program, held within time, memory and output.

use std::{
    convert::Infallible,
    io::{self, BufReader, Read},
    path::Path,
    process::{ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{self, Command},
    runtime::Handle,
    sync::oneshot,
    time::timeout,
};
use tokio_util::io::SyncIoBridge;

use super::confine::Confined;
use crate::{Flaw, blocking::blocking};

/// Sets the limits on itself, then becomes the program: nothing of it ever runs without them. Where a system cannot
/// bound memory (macOS) the rest still holds. Where the kernel can end it with its parent (Linux) it does, so that
/// nothing of a worker that was killed goes on, also of one that was killed just before the kernel knew; elsewhere the
/// limits end it.
const WITHIN: &str = "ulimit -c 0; ulimit -t \"$1\"; ulimit -f \"$2\"; \
    ulimit -v \"$3\" 2>/dev/null || [ \"$(uname)\" = Darwin ] || exit 125; ulimit -d \"$4\" 2>/dev/null; \
    parent=$5; shift 5; setpriv --pdeathsig KILL true 2>/dev/null && exec setpriv --pdeathsig KILL /bin/sh -c \
    '[ \"$PPID\" = \"$1\" ] || exit 125; shift; exec nice -n 10 \"$@\"' sh \"$parent\" \"$@\"; \
    exec nice -n 10 \"$@\"";

/// The size of one read of a program's output.
const PIECE: usize = 256 * 1024;

/// Words that are kept of what a program complains about.
const COMPLAINT: usize = 2_000;

/// A program to be run, and what it may take.
#[derive(Debug)]
pub(crate) struct Child<'a> {
    pub program: &'a Path,
    pub args: Vec<String>,
    /// The one file that it may read.
    pub input: &'a Path,
    /// The one file that it may write, which is there already.
    pub made: Option<&'a Path>,
    /// From start to end.
    pub time: Duration,
    /// Of the processor, in seconds.
    pub cpu: u64,
    /// Memory that it fills, in MiB.
    pub memory: u64,
    /// The most bytes that it may print.
    pub output: usize,
    /// The largest file that it may write, in bytes.
    pub file: u64,
}

/// The end of a failed run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Spent {
    /// It took too long.
    Time,
    /// It took too long, and for most of that time it was not running: this machine has no time for it.
    Starved,
    /// It printed too much.
    Output,
    /// It could not be started.
    Missing(String),
    /// It gave up, or was stopped by a limit; its last words are for the log alone.
    Failed(String),
}

impl Child<'_> {
    /// Runs it; what it printed.
    pub async fn run(self) -> Result<Vec<u8>, Spent> {
        let mut running = self.begin().await.map_err(missing)?;
        let (stdout, stderr) = (running.child.stdout.take(), running.child.stderr.take());
        let printed = all(stdout, self.output);
        let (printed, complaint, status) = within(&mut running, self.time, printed, stderr).await?;
        let printed = printed?;
        if status.success() { Ok(printed) } else { Err(failed(status, &complaint)) }
    }

    /// Runs it, and has `work` read what it prints while it prints it, on a thread for such work.
    ///
    /// # Errors
    /// Returns the result of `work` if the program succeeded, else the flaw that its end indicates.
    pub async fn read<T: Send + 'static>(
        self,
        work: impl FnOnce(&mut dyn Read) -> Result<T, Flaw> + Send + 'static,
    ) -> Result<T, Flaw> {
        let running = self.begin().await.map_err(missing);
        let mut running = running.map_err(Flaw::of_run)?;
        let (stdout, stderr) = (running.child.stdout.take(), running.child.stderr.take());
        let stdout = stdout.ok_or_else(|| Flaw::Passing("a program has no output".to_owned()))?;
        let most = self.output as u64;
        let done = blocking(move || {
            let from = SyncIoBridge::new(stdout).take(most);
            work(&mut BufReader::with_capacity(PIECE, from))
        });
        let ended = within(&mut running, self.time, done, stderr).await;
        let (done, complaint, status) = ended.map_err(Flaw::of_run)?;
        if status.success() { done } else { Err(Flaw::of_run(failed(status, &complaint))) }
    }

    async fn begin(&self) -> io::Result<Running> {
        begin(self.command(), Confined::new(self.program, self.input, self.made)).await
    }

    fn command(&self) -> Command {
        // Libraries and their tables are mapped, not filled: they count as addresses only.
        let addresses = (self.memory + 1_536) * 1_024;
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", WITHIN, "sh", &self.cpu.to_string(), &self.file.div_ceil(512).to_string()])
            .args([addresses.to_string(), (self.memory * 1_024).to_string()])
            .arg(std::process::id().to_string())
            .arg(self.program)
            .args(&self.args)
            // Our environment holds keys, and might name a proxy.
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C")
            .env("MALLOC_ARENA_MAX", "2")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }
}

fn missing(error: io::Error) -> Spent {
    Spent::Missing(error.to_string())
}

fn failed(status: ExitStatus, complaint: &str) -> Spent {
    Spent::Failed(format!("{status}: {complaint}"))
}

/// Waits for a program's output to be worked off, and for its end.
async fn within<T>(
    running: &mut Running,
    time: Duration,
    output: impl Future<Output = T>,
    stderr: Option<process::ChildStderr>,
) -> Result<(T, String, ExitStatus), Spent> {
    let work = async {
        let (printed, complaint) = tokio::join!(output, last(stderr));
        Ok((printed, complaint, running.child.wait().await.map_err(missing)?))
    };
    match timeout(time, work).await {
        Ok(done) => done,
        Err(_) if has_run(running.child.id(), time / 2) => Err(Spent::Time),
        Err(_) => Err(Spent::Starved),
    }
}

/// True if a program has had the processor for so long, or if nobody can tell (only Linux does).
fn has_run(pid: Option<u32>, time: Duration) -> bool {
    /// Ticks a second in /proc, the same on every Linux that Debian builds.
    const TICKS: u64 = 100;
    let stat = pid.and_then(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).ok());
    let Some(behind) = stat.as_ref().and_then(|stat| stat.rsplit_once(')')) else { return true };
    // Behind the name: user and system time are the 12th and 13th field.
    let ran = behind.1.split_whitespace().skip(11).take(2);
    let ticks: u64 = ran.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1_000 / TICKS) >= time
}

/// A program that runs, for as long as this is kept.
struct Running {
    child: process::Child,
    _kept: mpsc::Sender<Infallible>,
}

/// Begins it on a thread of its own, which is confined first: what a thread may open, the program that it begins may.
/// To the kernel a program's parent is the thread that began it, so this one stays until the program has ended.
async fn begin(mut command: Command, confined: Confined) -> io::Result<Running> {
    let (reply, begun) = oneshot::channel();
    let (kept, ended) = mpsc::channel();
    let runtime = Handle::current();
    thread::Builder::new().name("media-tool".to_owned()).spawn(move || {
        let _entered = runtime.enter();
        // If nobody waits any more, it is killed when the answer is dropped.
        let _ = reply.send(confined.enter().and_then(|()| command.spawn()));
        let _ = ended.recv();
    })?;
    let child = begun.await.map_err(|_| io::Error::other("no program can be begun"))??;
    Ok(Running { child, _kept: kept })
}

/// Everything that is printed, up to `most`; the program is stopped by the closed pipe beyond that.
async fn all(from: Option<impl AsyncRead + Unpin>, most: usize) -> Result<Vec<u8>, Spent> {
    let mut printed = Vec::new();
    let Some(mut from) = from else { return Ok(printed) };
    let read = (&mut from).take(most as u64 + 1).read_to_end(&mut printed).await;
    read.map_err(|error| Spent::Failed(error.to_string()))?;
    if printed.len() > most { Err(Spent::Output) } else { Ok(printed) }
}

/// The last words.
async fn last(from: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut from) = from else { return String::new() };
    let (mut kept, mut piece) = (Vec::new(), [0; 1_024]);
    while let Ok(read @ 1..) = from.read(&mut piece).await {
        kept.extend_from_slice(&piece[..read]);
        let excess = kept.len().saturating_sub(COMPLAINT);
        kept.drain(..excess);
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use super::{Child, Spent};

    fn shell(script: &str) -> Child<'static> {
        Child {
            program: Path::new("/bin/sh"),
            args: vec!["-c".to_owned(), script.to_owned()],
            input: Path::new("/dev/null"),
            made: None,
            time: Duration::from_secs(30),
            cpu: 5,
            memory: 64,
            output: 1_000,
            file: 100_000,
        }
    }

    #[tokio::test]
    async fn what_it_prints_comes_back_and_what_it_complains_of_is_told() {
        assert_eq!(shell("printf hello").run().await, Ok(b"hello".to_vec()));
        let Err(Spent::Failed(words)) = shell("echo no >&2; exit 3").run().await else { panic!() };
        assert!(words.contains("no"), "{words}");
    }

    #[tokio::test]
    async fn it_does_not_see_our_environment() {
        let seen = shell("env | grep -c '^CARGO' || true").run().await;
        assert_eq!(seen, Ok(b"0\n".to_vec()));
    }

    #[tokio::test]
    async fn it_is_stopped_at_each_limit() {
        let waiting = Child { time: Duration::from_millis(300), ..shell("sleep 600") };
        assert_eq!(waiting.run().await, Err(Spent::Starved));
        let slow = Child { time: Duration::from_secs(2), ..shell("while :; do :; done") };
        // On a busy machine it may not have had its second.
        assert!(matches!(slow.run().await, Err(Spent::Time | Spent::Starved)));
        assert_eq!(shell("yes").run().await, Err(Spent::Output));
        let busy = Child { cpu: 1, ..shell("while :; do :; done") };
        assert!(matches!(busy.run().await, Err(Spent::Failed(_))));
        let greedy = shell("x=x; while :; do x=$x$x; done");
        assert!(matches!(greedy.run().await, Err(Spent::Failed(_))));
        let at =
            std::env::temp_dir().join(format!("fanfare-child-{:032x}", rand::random::<u128>()));
        std::fs::write(&at, []).expect("a file");
        let script = format!("yes | head -c 1000000 > {}", at.display());
        let writing = Child { made: Some(&at), ..shell(&script) }.run().await;
        let written = std::fs::metadata(&at).map(|meta| meta.len()).unwrap_or(0);
        let _ = std::fs::remove_file(&at);
        assert!(matches!(writing, Err(Spent::Failed(_))), "{writing:?}");
        assert!(written <= 100_352, "{written}");
    }

    /// Needs a kernel with Landlock, as that of every current distribution has it.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn it_opens_its_own_files_and_no_other() {
        let dir = tempfile::tempdir().expect("a directory");
        let [own, beside, made] = ["own", "beside", "made"].map(|name| {
            let at = dir.path().join(name);
            std::fs::write(&at, name).expect("a file");
            at
        });
        let run = async |script: String| {
            Child { input: &own, made: Some(&made), ..shell(&script) }.run().await
        };
        assert_eq!(run(format!("cat {}", own.display())).await, Ok(b"own".to_vec()));
        assert_eq!(
            run(format!("echo hi > {0}; cat {0}", made.display())).await,
            Ok(b"hi\n".to_vec())
        );
        let environment = format!("/proc/{}/environ", std::process::id());
        let elsewhere = dir.path().join("new").display().to_string();
        for refused in [
            format!("cat {}", beside.display()),
            format!("cat {environment}"),
            "cat /etc/passwd".to_owned(),
            format!("echo hi > {elsewhere}"),
            format!("echo hi > {}", own.display()),
            format!("ls {}", dir.path().display()),
            format!("rm {}", made.display()),
        ] {
            let end = run(refused.clone()).await;
            let Err(Spent::Failed(words)) = end else { panic!("{refused}: {end:?}") };
            assert!(
                words.contains("ermission denied") || words.contains("cannot create"),
                "{refused}: {words}"
            );
        }
        assert_eq!(std::fs::read(&beside).ok(), Some(b"beside".to_vec()));
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_a_failure() {
        let gone = Child { program: Path::new("/nowhere/ffprobe"), ..shell("") };
        assert!(matches!(gone.run().await, Err(Spent::Failed(_))));
    }
}
