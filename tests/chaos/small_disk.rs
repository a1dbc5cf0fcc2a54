//! A small file system that a test may fill: in memory, in a mount namespace of its own, which ends with this.

use std::{
    io::{BufRead, BufReader, ErrorKind, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

/// The file system. Without being root it is made in a user namespace, where the system allows that.
pub struct SmallDisk {
    holder: Child,
    dir: String,
    is_root: bool,
}

impl SmallDisk {
    /// Mounts one of so many MiB over `dir`, to be seen by what [`SmallDisk::command`] starts.
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

    /// The program, started where the file system is seen.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.holder.id().to_string(), "--mount"]);
        if !self.is_root {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.arg("--").arg(program);
        command
    }

    /// A file on it, as it is seen from here.
    pub fn file(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{}", self.holder.id(), self.dir)).join(name)
    }

    /// Fills it to the last byte.
    ///
    /// # Panics
    /// Something else than room is missing.
    pub fn fill(&self) {
        let mut filler = std::fs::File::create(self.file("filler")).expect("a file");
        // Large pieces first, then the rest.
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

    /// Makes room again.
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
