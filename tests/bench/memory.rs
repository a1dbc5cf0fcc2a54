//! Memory of processes, from /proc.

/// Returns the resident memory (RSS) of a process, in MiB; 0 if it has ended.
pub fn of(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
    kilobytes.unwrap_or(0.0) / 1_024.0
}
