//! CPU time of processes, from /proc.

/// Clock ticks per second in /proc, the same on all of Debian's kernels.
const TICKS: f64 = 100.0;

/// Returns the user and system time of a process so far, in ms; 0 if it has ended.
pub fn of(pid: u32) -> f64 {
    fields(pid).map_or(0.0, |fields| (fields[11] + fields[12]) / TICKS * 1_000.0)
}

/// Returns the CPU time of a process, its finished children and its running children, in ms.
pub fn with_children(pid: u32) -> f64 {
    let Some(own) = fields(pid) else { return 0.0 };
    let ended: f64 = own[11..15].iter().sum();
    let running: f64 = children(pid).map(of).sum();
    ended / TICKS * 1_000.0 + running
}

/// Returns the parent of a process.
pub fn parent(pid: u32) -> u32 {
    fields(pid).map_or(0, |fields| fields[1] as u32)
}

fn children(pid: u32) -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(move |child| parent(*child) == pid)
}

/// Returns the fields of /proc/PID/stat after the process name, which may contain anything.
fn fields(pid: u32) -> Option<Vec<f64>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let behind = &stat[stat.rfind(')')? + 1..];
    Some(behind.split_whitespace().map(|field| field.parse().unwrap_or(0.0)).collect())
}
