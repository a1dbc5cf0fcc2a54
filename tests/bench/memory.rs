//! Memory of processes, as Linux counts it in /proc.

/// Returns the memory of a process (RSS), in MiB; nothing if it has ended.
pub fn of(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
    kilobytes.unwrap_or(0.0) / 1_024.0
}
