//! Runs a program within limits of time, memory and output.

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

use super::confine::AllowedPaths;
use crate::{Flaw, blocking::on_pixels};

/// A shell script that sets limits on itself and then executes the program, so that the program never runs without
/// them.
/// If a system cannot limit memory (macOS), the other limits still apply. If the kernel can end the program with its
/// parent (Linux), the script requests this, so that the program does not outlive a killed worker, even one that was
/// killed before the request. On other systems the limits end it.
const LIMITS_SCRIPT: &str = "ulimit -c 0; ulimit -t \"$1\"; ulimit -f \"$2\"; \
    ulimit -v \"$3\" 2>/dev/null || [ \"$(uname)\" = Darwin ] || exit 125; ulimit -d \"$4\" 2>/dev/null; \
    parent=$5; shift 5; setpriv --pdeathsig KILL true 2>/dev/null && exec setpriv --pdeathsig KILL /bin/sh -c \
    '[ \"$PPID\" = \"$1\" ] || exit 125; shift; exec nice -n 10 \"$@\"' sh \"$parent\" \"$@\"; \
    exec nice -n 10 \"$@\"";

/// The size of one read of the output of a program.
const READ_SIZE: usize = 256 * 1024;

/// The number of bytes that are kept of the error output.
const MAX_ERROR_OUTPUT: usize = 2_000;

/// A program to run and its limits.
#[derive(Debug)]
pub(crate) struct ToolRun<'a> {
    pub program: &'a Path,
    pub args: Vec<String>,
    /// The only file that it may read.
    pub input: &'a Path,
    /// The only file that it may write, which already exists.
    pub made: Option<&'a Path>,
    /// The longest total run time.
    pub time: Duration,
    /// The CPU time limit in seconds.
    pub cpu: u64,
    /// The memory limit in MiB.
    pub memory: u64,
    /// The largest output in bytes.
    pub output: usize,
    /// The size limit of the file that it writes, in bytes.
    pub file: u64,
}

/// The reason that a run failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolError {
    /// It took too long.
    Time,
    /// It took too long but was not running most of the time, because this machine is overloaded.
    Starved,
    /// It printed too much.
    Output,
    /// It could not be started.
    Missing(String),
    /// It failed or was stopped by a limit. The end of its error output is only for the log.
    Failed(String),
}

impl ToolRun<'_> {
    /// Runs the program and returns its output.
    pub async fn run(self) -> Result<Vec<u8>, ToolError> {
        let mut running = self.begin().await.map_err(start_error)?;
        let (stdout, stderr) = (running.child.stdout.take(), running.child.stderr.take());
        let printed = read_limited(stdout, self.output);
        let (printed, complaint, status) =
            wait_for_end(&mut running, self.time, printed, stderr).await?;
        let printed = printed?;
        if status.success() { Ok(printed) } else { Err(exit_error(status, &complaint)) }
    }

    /// Runs the program. `work` reads its output meanwhile on a blocking thread.
    ///
    /// # Errors
    /// Returns the flaw that the failure of the program indicates, or the error of `work`.
    pub async fn read<T: Send + 'static>(
        self,
        work: impl FnOnce(&mut dyn Read) -> Result<T, Flaw> + Send + 'static,
    ) -> Result<T, Flaw> {
        let running = self.begin().await.map_err(start_error);
        let mut running = running.map_err(Flaw::from_tool_error)?;
        let (stdout, stderr) = (running.child.stdout.take(), running.child.stderr.take());
        let stdout = stdout.ok_or_else(|| Flaw::Temporary("a program has no output".to_owned()))?;
        let most = self.output as u64;
        let done = on_pixels(move || {
            let from = SyncIoBridge::new(stdout).take(most);
            work(&mut BufReader::with_capacity(READ_SIZE, from))
        });
        let ended = wait_for_end(&mut running, self.time, done, stderr).await;
        let (done, complaint, status) = ended.map_err(Flaw::from_tool_error)?;
        if status.success() {
            done
        } else {
            Err(Flaw::from_tool_error(exit_error(status, &complaint)))
        }
    }

    async fn begin(&self) -> io::Result<Running> {
        begin(self.command(), AllowedPaths::new(self.program, self.input, self.made)).await
    }

    fn command(&self) -> Command {
        // Libraries and their tables are mapped but not filled, so they count only as address space.
        let addresses = (self.memory + 1_536) * 1_024;
        let mut command = Command::new("/bin/sh");
        command
            .args([
                "-c",
                LIMITS_SCRIPT,
                "sh",
                &self.cpu.to_string(),
                &self.file.div_ceil(512).to_string(),
            ])
            .args([addresses.to_string(), (self.memory * 1_024).to_string()])
            .arg(std::process::id().to_string())
            .arg(self.program)
            .args(&self.args)
            // The environment of this process contains keys and may contain a proxy.
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

fn start_error(error: io::Error) -> ToolError {
    ToolError::Missing(error.to_string())
}

fn exit_error(status: ExitStatus, complaint: &str) -> ToolError {
    ToolError::Failed(format!("{status}: {complaint}"))
}

/// Waits until the output of a program is processed and the program has ended.
async fn wait_for_end<T>(
    running: &mut Running,
    time: Duration,
    output: impl Future<Output = T>,
    stderr: Option<process::ChildStderr>,
) -> Result<(T, String, ExitStatus), ToolError> {
    let work = async {
        let (printed, complaint) = tokio::join!(output, read_last(stderr));
        Ok((printed, complaint, running.child.wait().await.map_err(start_error)?))
    };
    match timeout(time, work).await {
        Ok(done) => done,
        Err(_) if has_used_cpu(running.child.id(), time / 2) => Err(ToolError::Time),
        Err(_) => Err(ToolError::Starved),
    }
}

/// Returns true if a program has used this much CPU time, or if that is unknown (only Linux reports it).
fn has_used_cpu(pid: Option<u32>, time: Duration) -> bool {
    /// Ticks per second in /proc, the same on every Linux that Debian builds.
    const TICKS: u64 = 100;
    let stat = pid.and_then(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).ok());
    let Some(behind) = stat.as_ref().and_then(|stat| stat.rsplit_once(')')) else { return true };
    // User and system time are the 12th and 13th field after the name.
    let ran = behind.1.split_whitespace().skip(11).take(2);
    let ticks: u64 = ran.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1_000 / TICKS) >= time
}

/// A running program, which is killed when this value is dropped.
struct Running {
    child: process::Child,
    _kept: mpsc::Sender<Infallible>,
}

/// Starts the program on a thread of its own that is confined first, because the program inherits what the thread may
/// open. To the kernel, the thread that started a program is its parent, so this thread stays until the program ends.
async fn begin(mut command: Command, confined: AllowedPaths) -> io::Result<Running> {
    let (reply, begun) = oneshot::channel();
    let (kept, ended) = mpsc::channel();
    let runtime = Handle::current();
    thread::Builder::new().name("media-tool".to_owned()).spawn(move || {
        let _entered = runtime.enter();
        // If nobody waits any more, the program is killed when the result is dropped.
        let _ = reply.send(confined.enter().and_then(|()| command.spawn()));
        let _ = ended.recv();
    })?;
    let child = begun.await.map_err(|_| io::Error::other("no program can be begun"))??;
    Ok(Running { child, _kept: kept })
}

/// Reads the output, up to `most` bytes. The closed pipe stops a program that writes more.
async fn read_limited(
    from: Option<impl AsyncRead + Unpin>,
    most: usize,
) -> Result<Vec<u8>, ToolError> {
    let mut printed = Vec::new();
    let Some(mut from) = from else { return Ok(printed) };
    let read = (&mut from).take(most as u64 + 1).read_to_end(&mut printed).await;
    read.map_err(|error| ToolError::Failed(error.to_string()))?;
    if printed.len() > most { Err(ToolError::Output) } else { Ok(printed) }
}

/// Returns the end of the error output.
async fn read_last(from: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut from) = from else { return String::new() };
    let (mut kept, mut piece) = (Vec::new(), [0; 1_024]);
    while let Ok(read @ 1..) = from.read(&mut piece).await {
        kept.extend_from_slice(&piece[..read]);
        let excess = kept.len().saturating_sub(MAX_ERROR_OUTPUT);
        kept.drain(..excess);
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use super::{ToolError, ToolRun};

    fn shell(script: &str) -> ToolRun<'static> {
        ToolRun {
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
        let Err(ToolError::Failed(words)) = shell("echo no >&2; exit 3").run().await else {
            panic!()
        };
        assert!(words.contains("no"), "{words}");
    }

    #[tokio::test]
    async fn it_does_not_see_our_environment() {
        let seen = shell("env | grep -c '^CARGO' || true").run().await;
        assert_eq!(seen, Ok(b"0\n".to_vec()));
    }

    #[tokio::test]
    async fn it_is_stopped_at_each_limit() {
        let waiting = ToolRun { time: Duration::from_millis(300), ..shell("sleep 600") };
        assert_eq!(waiting.run().await, Err(ToolError::Starved));
        let slow = ToolRun { time: Duration::from_secs(2), ..shell("while :; do :; done") };
        // On a busy machine it may not have had its second.
        assert!(matches!(slow.run().await, Err(ToolError::Time | ToolError::Starved)));
        assert_eq!(shell("yes").run().await, Err(ToolError::Output));
        let busy = ToolRun { cpu: 1, ..shell("while :; do :; done") };
        assert!(matches!(busy.run().await, Err(ToolError::Failed(_))));
        let greedy = shell("x=x; while :; do x=$x$x; done");
        assert!(matches!(greedy.run().await, Err(ToolError::Failed(_))));
        let at =
            std::env::temp_dir().join(format!("fanfare-child-{:032x}", rand::random::<u128>()));
        std::fs::write(&at, []).expect("a file");
        let script = format!("yes | head -c 1000000 > {}", at.display());
        let writing = ToolRun { made: Some(&at), ..shell(&script) }.run().await;
        let written = std::fs::metadata(&at).map(|meta| meta.len()).unwrap_or(0);
        let _ = std::fs::remove_file(&at);
        assert!(matches!(writing, Err(ToolError::Failed(_))), "{writing:?}");
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
            ToolRun { input: &own, made: Some(&made), ..shell(&script) }.run().await
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
            let Err(ToolError::Failed(words)) = end else { panic!("{refused}: {end:?}") };
            assert!(
                words.contains("ermission denied") || words.contains("cannot create"),
                "{refused}: {words}"
            );
        }
        assert_eq!(std::fs::read(&beside).ok(), Some(b"beside".to_vec()));
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_a_failure() {
        let gone = ToolRun { program: Path::new("/nowhere/ffprobe"), ..shell("") };
        assert!(matches!(gone.run().await, Err(ToolError::Failed(_))));
    }
}
