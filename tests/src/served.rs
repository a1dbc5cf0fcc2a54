//! Servers of single files on loopback, and videos for them.

use std::path::{Path, PathBuf};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A server of one file, which ends with the test.
pub struct FileServer {
    /// Address of the file.
    pub url: String,
    task: tokio::task::JoinHandle<()>,
}

impl FileServer {
    /// Serves these bytes under this name.
    ///
    /// # Panics
    /// There is no free port.
    pub async fn file(name: &str, mime: &str, bytes: Vec<u8>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        Self::on(listener, name, mime, bytes)
    }

    /// Serves this text under this name, with its own address in place of `{url}`, and in upper case in place of
    /// `{URL}`.
    ///
    /// # Panics
    /// There is no free port.
    pub async fn templated(name: &str, mime: &str, text: &str) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/{name}", listener.local_addr().expect("an address"));
        let text = text.replace("{url}", &url).replace("{URL}", &url.to_uppercase());
        Self::on(listener, name, mime, text.into_bytes())
    }

    /// Serves this text at an address whose port is free again.
    ///
    /// # Panics
    /// It is not.
    pub async fn at(url: &str, mime: &str, text: String) -> Self {
        let url: url::Url = url.parse().expect("an address");
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.set_reuseaddr(true).expect("an option");
        let port = url.port().expect("a port");
        socket.bind(([127, 0, 0, 1], port).into()).expect("a free port");
        let listener = socket.listen(16).expect("a listener");
        Self::on(listener, url.path().trim_start_matches('/'), mime, text.into_bytes())
    }

    /// Stops serving.
    pub async fn stop(self) {
        self.task.abort();
        let _ = self.task.await;
    }

    fn on(listener: tokio::net::TcpListener, name: &str, mime: &str, bytes: Vec<u8>) -> Self {
        let url = format!("http://{}/{name}", listener.local_addr().expect("an address"));
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            bytes.len()
        );
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
                        break;
                    }
                }
                let _ = stream.write_all(head.as_bytes()).await;
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { url, task }
    }
}

/// Makes a file with ffmpeg from a test picture of this size, rate and length; the last of `args` is its name.
///
/// # Panics
/// ffmpeg is not installed or cannot do it.
#[must_use]
pub fn film(dir: &Path, picture: &str, args: &[&str]) -> Vec<u8> {
    let (name, args) = args.split_last().expect("a name");
    let at = dir.join(name);
    let source = format!("testsrc={picture}");
    let made = std::process::Command::new("ffmpeg")
        .args(["-v", "error", "-y", "-f", "lavfi", "-i", &source])
        .args(args)
        .arg(&at)
        .status();
    assert!(made.expect("ffmpeg is installed").success());
    std::fs::read(at).expect("the film")
}

/// Creates wrappers of ffmpeg and ffprobe, and returns their directory. ffprobe waits for the file `probe` in `dir`,
/// and an encoding ffmpeg for the file `encode`.
///
/// # Panics
/// The file system does not let it.
#[must_use]
pub fn gated_tools(dir: &Path) -> PathBuf {
    let tools = dir.join("tools");
    std::fs::create_dir_all(&tools).expect("a directory");
    let found = |name: &str| -> String {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut places = std::env::split_paths(&path).map(|place| place.join(name));
        places.find(|at| at.is_file()).expect("ffmpeg is installed").display().to_string()
    };
    for (name, gate, when) in [("ffprobe", "probe", "*"), ("ffmpeg", "encode", "*libx264*")] {
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in {when}) \
             while [ ! -e {dir}/{gate} ]; do sleep 0.05; done;; esac\nexec {} \"$@\"\n",
            found(name),
            dir = dir.display(),
        );
        let at = tools.join(name);
        std::fs::write(&at, script).expect("a script");
        #[cfg(unix)]
        std::fs::set_permissions(&at, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("a program");
    }
    tools
}

/// A temporary directory, which is removed on drop.
pub struct TempDir(pub PathBuf);

impl TempDir {
    /// Creates one.
    ///
    /// # Panics
    /// The file system does not let it.
    #[must_use]
    pub fn new() -> Self {
        let at =
            std::env::temp_dir().join(format!("fanfare-place-{}", uuid::Uuid::now_v7().simple()));
        std::fs::create_dir_all(&at).expect("a temporary directory");
        Self(at)
    }

    /// Returns the process id of a running program of [`gated_tools`]. It is searched in /proc, since the program
    /// cannot write a file.
    #[must_use]
    pub fn pid(&self, name: &str) -> Option<u32> {
        let tool = self.0.join("tools").join(name).display().to_string();
        let runs = |id: &u32| {
            let words = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            words.split(|byte| *byte == 0).any(|word| word == tool.as_bytes())
        };
        let all = std::fs::read_dir("/proc").ok()?.flatten();
        all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(runs)
    }

    /// Opens a gate of [`gated_tools`].
    ///
    /// # Panics
    /// The file system does not let it.
    pub fn open(&self, gate: &str) {
        std::fs::write(self.0.join(gate), []).expect("a gate");
    }
}

impl Default for TempDir {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
