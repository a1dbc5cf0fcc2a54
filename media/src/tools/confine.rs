//! Restricts the files that a program may open.

use std::{
    io,
    path::{Path, PathBuf},
};

/// The paths that a program may open in addition to system programs and libraries.
#[derive(Debug, Clone)]
pub(super) struct AllowedPaths {
    /// The directory of the program.
    programs: PathBuf,
    /// The only file that it reads.
    input: PathBuf,
    /// The only file that it writes, which already exists.
    output: Option<PathBuf>,
}

impl AllowedPaths {
    pub fn new(program: &Path, input: &Path, output: Option<&Path>) -> Self {
        Self {
            programs: program.parent().unwrap_or(program).to_owned(),
            input: input.to_owned(),
            output: output.map(Path::to_owned),
        }
    }

    /// Restricts this thread and the programs that it starts, as far as the kernel supports it. Landlock restricts
    /// files
    /// since Linux 5.13 and TCP since 6.7. A kernel without it restricts nothing.
    #[cfg(target_os = "linux")]
    pub fn enter(&self) -> io::Result<()> {
        use landlock::{
            ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr,
            RulesetError, Scope, path_beneath_rules,
        };
        const LATEST: ABI = ABI::V6;
        let (run, read) = (AccessFs::from_read(LATEST), AccessFs::ReadFile);
        let write = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
        let restrict = || -> Result<_, RulesetError> {
            Ruleset::default()
                .handle_access(AccessFs::from_all(LATEST))?
                .handle_access(AccessNet::from_all(LATEST))?
                .scope(Scope::from_all(LATEST))?
                .create()?
                .add_rules(path_beneath_rules(SYSTEM_DIRECTORIES, run))?
                .add_rules(path_beneath_rules([&self.programs], run))?
                .add_rules(path_beneath_rules(LOADER_FILES, read))?
                .add_rules(path_beneath_rules([&self.input], read))?
                .add_rules(path_beneath_rules(["/dev/null"], write))?
                .add_rules(path_beneath_rules(&self.output, write))?
                .restrict_self()
        };
        restrict().map(|_| ()).map_err(io::Error::other)
    }

    /// Restricts nothing, because this system does not support it.
    #[cfg(not(target_os = "linux"))]
    pub fn enter(&self) -> io::Result<()> {
        Ok(())
    }
}

/// The directories of programs and libraries.
#[cfg(target_os = "linux")]
const SYSTEM_DIRECTORIES: [&str; 8] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/sys/devices/system/cpu"];

/// The files that the loader and the C library read.
#[cfg(target_os = "linux")]
const LOADER_FILES: [&str; 4] =
    ["/etc/ld.so.cache", "/etc/ld.so.preload", "/dev/urandom", "/proc/sys/kernel/cap_last_cap"];
