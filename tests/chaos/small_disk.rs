//! A small in-memory file system that a test may fill, in a mount namespace that ends with this value.

use std::{
    io::{BufRead, BufReader, ErrorKind, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

/// The file system. Without root it needs user namespaces.
pub struct SmallDisk {
    holder: Child,
    dir: String,
    is_root: bool,
}

impl SmallDisk {
    /// Mounts one of this size in MiB over `dir`; only programs started by [`SmallDisk::command`] see it.
    ///
    /// # Panics
    /// The system does not allow it.
    pub fn mount(dir: &str, mebibytes: u32) -> Self {
        let id = Command::new("id").arg("-u").output().expect("id runs").stdout;
        let is_root = id.trim_ascii() == b"0";
        let script =
            format!("mount -t tmpfs -o size={mebibytes}m tmpfs \"$0\" && echo mounted && exec cat");
        let mut holder = Command::new("unshare")
            .args(if is_root { &["--mount"][..] } else { &["--mount", "--map-root-user"] })
            .args(["sh", "-c", &script, dir])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("unshare is installed (util-linux)");
        let mut line = String::new();
        let output = holder.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("a line");
        assert_eq!(line.trim(), "mounted", "a file system in memory cannot be mounted here");
        Self { holder, dir: dir.to_owned(), is_root }
    }

    /// Returns a command that runs a program with this file system.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.holder.id().to_string(), "--mount"]);
        if !self.is_root {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.arg("--").arg(program);
        command
    }

    /// Returns the path of a file on it, for this process.
    pub fn file(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{}", self.holder.id(), self.dir)).join(name)
    }

    /// Fills it completely.
    ///
    /// # Panics
    /// Writing fails for another reason.
    pub fn fill(&self) {
        let mut filler = std::fs::File::create(self.file("filler")).expect("a file");
        // Large blocks first, then the rest.
        for size in [1 << 16, 1 << 10, 1] {
            let piece = vec![0_u8; size];
            loop {
                match filler.write(&piece) {
                    Ok(written) if written > 0 => {}
                    Ok(_) => break,
                    Err(error) if error.kind() == ErrorKind::StorageFull => break,
                    Err(error) => panic!("the disk cannot be filled: {error}"),
                }
            }
        }
    }

    /// Frees the space again.
    ///
    /// # Panics
    /// It was not filled.
    pub fn free(&self) {
        std::fs::remove_file(self.file("filler")).expect("the filler goes");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}
