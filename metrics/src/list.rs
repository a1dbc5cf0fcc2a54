//! The list of all metrics, with name, labels and description.
//!
//! `docs/operations.md` explains each metric and `deploy/alerts.yml` has alerts for some; a test compares all three.
//! The value of a label comes from a list in the code. It is never an id, an address or user input.

/// A metric.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// The Prometheus name.
    pub name: &'static str,
    /// The type.
    pub kind: MetricKind,
    /// The names of the labels.
    pub labels: &'static [&'static str],
    /// The description, in one sentence.
    pub help: &'static str,
}

/// The type of a metric.
#[derive(Debug, Clone, Copy)]
pub enum MetricKind {
    /// A value that only increases.
    Counter,
    /// A current value.
    Gauge,
    /// A distribution of values over these buckets.
    Histogram(&'static [f64]),
}

/// Histogram buckets in seconds for operations that should be fast.
const DURATION_BUCKETS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// Histogram buckets in seconds for lateness: fine around the target, coarse for long delays.
const LATENESS: &[f64] =
    &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0];

/// Histogram buckets for the number of rows of one statement.
const ROW_BUCKETS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

const fn counter(
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric { name, kind: MetricKind::Counter, labels, help }
}

const fn gauge(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Metric {
    Metric { name, kind: MetricKind::Gauge, labels, help }
}

const fn histogram(
    name: &'static str,
    buckets: &'static [f64],
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric { name, kind: MetricKind::Histogram(buckets), labels, help }
}

pub(crate) const INFO: Metric =
    gauge("fanfare_info", &["version", "role"], "Always 1; says which version runs in which role.");
pub(crate) const DATABASE_UP: Metric =
    gauge("fanfare_database_up", &[], "1 while the database answers this process, else 0.");
pub(crate) const QUEUE_UP: Metric =
    gauge("fanfare_queue_up", &[], "1 while the queue answers this process, else 0.");
pub(crate) const HTTP_REQUESTS: Metric =
    counter("fanfare_http_requests_total", &["route", "status"], "Requests answered.");
pub(crate) const HTTP_SECONDS: Metric = histogram(
    "fanfare_http_request_seconds",
    DURATION_BUCKETS,
    &["route"],
    "Time to answer a request.",
);
pub(crate) const ATTEMPTS: Metric = counter(
    "fanfare_post_attempts_total",
    &["platform", "outcome", "code"],
    "Attempts at publishing a post that ended, with the error's code if there was one.",
);
pub(crate) const LATENESS_SECONDS: Metric = histogram(
    "fanfare_post_lateness_seconds",
    LATENESS,
    &["platform"],
    "Time from a post's scheduled_at, or from the later turn that its network's limits gave it, to the start of its first publishing call.",
);
pub(crate) const CLAIMS: Metric = counter(
    "fanfare_claims_total",
    &["kind", "outcome"],
    "Rows that workers tried to claim: taken, or passed because they were not due or held by another worker.",
);
pub(crate) const GROUP_ROWS: Metric = histogram(
    "fanfare_group_rows",
    ROW_BUCKETS,
    &["statement"],
    "Rows that went to the database in one statement.",
);
pub(crate) const GROUP_SECONDS: Metric = histogram(
    "fanfare_group_seconds",
    DURATION_BUCKETS,
    &["statement"],
    "Time such a statement took.",
);
// Keeps its original name, because dashboards and alerts use it.
pub(crate) const ENQUEUED: Metric = counter(
    "fanfare_rings_total",
    &["kind", "outcome"],
    "Ids pushed to the queue: taken, or failed and left to the scheduler.",
);
pub(crate) const WORK_RUNNING: Metric =
    gauge("fanfare_work_running", &["kind"], "Work under way in this process.");
pub(crate) const WORK_SLOTS: Metric = gauge(
    "fanfare_work_slots",
    &["kind"],
    "How much work this process takes at once, of posts more than it has slots; an eighth more for who has next to nothing under way.",
);
pub(crate) const QUEUE_IDS: Metric =
    gauge("fanfare_queue_ids", &["kind"], "Ids on the queue; from the leading scheduler only.");
pub(crate) const DUE_ROWS: Metric = gauge(
    "fanfare_due_rows",
    &["kind"],
    "Rows that are due and that nobody has taken, counted up to 100,000; from the leading scheduler only.",
);
pub(crate) const DUE_OLDEST: Metric = gauge(
    "fanfare_due_oldest_seconds",
    &["kind"],
    "For how long the oldest of them waits that a free worker could take: no post that waits for its account's turn, a limit or a pause; from the leading scheduler only.",
);
pub(crate) const POSTS_LATE: Metric = gauge(
    "fanfare_posts_late",
    &[],
    "Posts that a free worker could have taken for more than 5 s: none that waits for its account's turn, a limit, a pause or an open question; from the leading scheduler only.",
);
pub(crate) const NETWORK_TROUBLES: Metric = gauge(
    "fanfare_network_troubles",
    &["platform", "trouble"],
    "Workspaces, up to 16, that have a trouble at a network in 15 min: outcome_unknown, failing (most of their attempts, as those of most workspaces) or tokens; 0 while one tenant of several has it; from the leading scheduler only.",
);
pub(crate) const API_VERSION_ENDS: Metric = gauge(
    "fanfare_api_version_ends_seconds",
    &["platform"],
    "Seconds until a platform stops answering the version of its API that is used, below 0 afterwards; none while no end is known; from the leading scheduler only.",
);
pub(crate) const SWEEPS: Metric = counter(
    "fanfare_sweeps_total",
    &["outcome"],
    "Turns of the scheduler: led, followed (another leads), alone (no queue), failed.",
);
pub(crate) const SWEEP_SECONDS: Metric =
    histogram("fanfare_sweep_seconds", DURATION_BUCKETS, &[], "Time a leading turn took.");
pub(crate) const SWEEP_LEADER: Metric =
    gauge("fanfare_sweep_leader", &[], "1 in the process whose scheduler leads, else 0.");
pub(crate) const SWEEP_LAST: Metric = gauge(
    "fanfare_sweep_last_turn_timestamp_seconds",
    &[],
    "When this process last finished a turn that it led or did alone, in Unix seconds.",
);
pub(crate) const DELIVERIES: Metric = counter(
    "fanfare_webhook_deliveries_total",
    &["outcome"],
    "Tries of webhook deliveries: delivered, retried later, failed for good, gone (410).",
);
pub(crate) const OUTBOUND: Metric = counter(
    "fanfare_outbound_requests_total",
    &["peer", "outcome"],
    "Requests to a platform, to webhook receivers or for remote media, by the class of the answer's status.",
);
pub(crate) const OUTBOUND_SECONDS: Metric = histogram(
    "fanfare_outbound_request_seconds",
    DURATION_BUCKETS,
    &["peer"],
    "Time until such a request was answered or given up.",
);
pub(crate) const LEASES_LOST: Metric = counter(
    "fanfare_leases_lost_total",
    &["kind"],
    "Renewals that found the row taken over or could not be written.",
);
pub(crate) const DISCARDED: Metric = counter(
    "fanfare_results_discarded_total",
    &["kind"],
    "Results thrown away because the row had a newer holder or had been edited.",
);
pub(crate) const TOKEN_REFRESHES: Metric = counter(
    "fanfare_token_refreshes_total",
    &["platform", "outcome"],
    "Exchanges of an account's tokens: fresh, elsewhere (another process was at it), impossible, failed.",
);
pub(crate) const ACCOUNTS_LOST: Metric = counter(
    "fanfare_accounts_lost_total",
    &["platform"],
    "Accounts whose credentials the platform no longer takes.",
);

pub(crate) const WALLET_MISMATCHES: Metric = counter(
    "fanfare_wallet_mismatches_total",
    &[],
    "Wallets whose balances and ledger differed in a daily check.",
);

pub(crate) const UNSETTLED_PAYMENTS: Metric = counter(
    "fanfare_unsettled_payments_total",
    &[],
    "Payments that a daily look at the payment provider found neither delivered nor given back.",
);

/// All metrics.
pub const ALL: &[Metric] = &[
    INFO,
    DATABASE_UP,
    QUEUE_UP,
    HTTP_REQUESTS,
    HTTP_SECONDS,
    ATTEMPTS,
    LATENESS_SECONDS,
    CLAIMS,
    GROUP_ROWS,
    GROUP_SECONDS,
    ENQUEUED,
    WORK_RUNNING,
    WORK_SLOTS,
    QUEUE_IDS,
    DUE_ROWS,
    DUE_OLDEST,
    POSTS_LATE,
    NETWORK_TROUBLES,
    API_VERSION_ENDS,
    SWEEPS,
    SWEEP_SECONDS,
    SWEEP_LEADER,
    SWEEP_LAST,
    DELIVERIES,
    OUTBOUND,
    OUTBOUND_SECONDS,
    LEASES_LOST,
    DISCARDED,
    TOKEN_REFRESHES,
    ACCOUNTS_LOST,
    WALLET_MISMATCHES,
    UNSETTLED_PAYMENTS,
];
