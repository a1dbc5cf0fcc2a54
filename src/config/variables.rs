//! The list of all variables; tests compare `.env.example` and `--help` with it.

/// Every variable with its meaning; `<PLATFORM>` stands for each platform's name in capitals.
pub const VARIABLES: &[(&str, &str)] = &[
    ("FANFARE_LISTEN", "Address the API listens on (127.0.0.1:8080)."),
    ("FANFARE_BASE_URL", "Origin by which callers reach the API (http:// and FANFARE_LISTEN)."),
    (
        "FANFARE_DATA_DIR",
        "Directory of the embedded database, media, key file and sandbox (./data).",
    ),
    ("FANFARE_DATABASE_URL", "sqlite://… or postgres://… (a SQLite file in FANFARE_DATA_DIR)."),
    ("FANFARE_DATABASE_POOL", "Most database connections of this process (8)."),
    (
        "FANFARE_REDIS_URL",
        "redis://… or rediss://…; without it the queue is in memory and all runs in one process.",
    ),
    (
        "FANFARE_MEDIA_URL",
        "The media store: file:///… or s3://bucket/prefix?endpoint=… (FANFARE_DATA_DIR/media).",
    ),
    (
        "FANFARE_FFMPEG_DIR",
        "Directory of ffmpeg and ffprobe, which take videos apart and convert media (the directories of PATH).",
    ),
    (
        "FANFARE_SCRATCH_GB",
        "Most room in FANFARE_DATA_DIR/scratch, in GB, for copies of S3 media and for conversions (20).",
    ),
    ("FANFARE_MEDIA_BASE_URL", "Address under which media is served (FANFARE_BASE_URL/media)."),
    ("FANFARE_MEDIA_ACCESS_KEY", "Access key of the S3 store."),
    ("FANFARE_MEDIA_SECRET_KEY", "Secret key of the S3 store."),
    ("FANFARE_MEDIA_REGION", "Region of the S3 store."),
    (
        "FANFARE_METRICS_LISTEN",
        "Address on which up, api and worker serve GET /metrics for Prometheus, and nothing else does.",
    ),
    (
        "FANFARE_MASTER_KEY",
        "Base64 of 32 bytes; encrypts credentials. Required with PostgreSQL; else kept in FANFARE_DATA_DIR/master.key.",
    ),
    ("FANFARE_MASTER_KEY_OLD", "Earlier master keys, separated by commas; they only decrypt."),
    ("FANFARE_MAX_LATENESS", "A post that could not start this long after its time fails (24h)."),
    (
        "FANFARE_ALLOW_PRIVATE_TARGETS",
        "true opens private addresses, http and every port for addresses that users give (false). The owner of `up` on SQLite may send webhooks to this machine without it.",
    ),
    ("FANFARE_SIMULATOR", "off: `up` starts without simulated networks of its own (on)."),
    (
        "FANFARE_SANDBOX_URL",
        "The address of `fanfare sandbox`; `up` then starts no simulated networks of its own.",
    ),
    (
        "FANFARE_SANDBOX_SECRET",
        "The secret of the simulated networks' control; the same for `sandbox`, `api` and `worker` (made at the first start).",
    ),
    (
        "FANFARE_SANDBOX_PUBLIC_URL",
        "Another origin by which people reach the simulated networks' pages, and nothing else there (loopback).",
    ),
    (
        "FANFARE_SANDBOX_LIMITS",
        "true: the simulated networks limit posts as the real ones do, and posts to them are paced (false).",
    ),
    (
        "FANFARE_SANDBOX_TIME_FACTOR",
        "Divides ages and intervals of accounts on simulated networks; 3600 makes an hour a second (1).",
    ),
    (
        "FANFARE_META_VERIFY_TOKEN",
        "Verify token of the webhooks of Meta's networks, at FANFARE_BASE_URL/api/hooks/meta/facebook, instagram and threads.",
    ),
    (
        "FANFARE_META_HUMAN_AGENT",
        "true: Meta lets the app send answers that people wrote for 7 days (false).",
    ),
    (
        "FANFARE_X_METRICS",
        "true: numbers of posts on X are read; X charges for each reading (false).",
    ),
    (
        "FANFARE_GRAPH_VERSION",
        "A newer version of the API that Facebook and Instagram share, such as v27.0, in place of that of this release.",
    ),
    (
        "FANFARE_LINKEDIN_VERSION",
        "A newer version of LinkedIn's API, such as 202609, in place of that of this release.",
    ),
    (
        "FANFARE_LINKEDIN_SCOPES",
        "Permissions that LinkedIn has approved your app for beside the usual ones, separated by commas; with r_member_postAnalytics numbers of members' posts are read.",
    ),
    (
        "FANFARE_BLUESKY_VIDEO_URL",
        "Service that videos for Bluesky are sent to, if not https://video.bsky.app; off sends them to the account's own server, which processes them after the post is public.",
    ),
    (
        "FANFARE_SIGNATURE_HEADER",
        "Name of a second header that carries the signature of webhooks, beside X-Fanfare-Signature; begins with X-.",
    ),
    ("FANFARE_<PLATFORM>_URL", "Base URL of a platform's API, in place of its own."),
    ("FANFARE_<PLATFORM>_CLIENT_ID", "Client id of the app registered with a platform."),
    ("FANFARE_<PLATFORM>_CLIENT_SECRET", "Client secret of that app."),
    (
        "FANFARE_STRIPE_SECRET_KEY",
        "Secret key of the Stripe account that people pay to; without it the simulated one stands in on loopback.",
    ),
    (
        "FANFARE_STRIPE_WEBHOOK_SECRET",
        "Secrets that sign its webhooks at FANFARE_BASE_URL/api/stripe/webhook, separated by commas.",
    ),
    ("FANFARE_STRIPE_URL", "The address of Stripe's API (https://api.stripe.com)."),
    ("FANFARE_PLANS", "JSON file of the plans that are sold (those in the binary)."),
    (
        "FANFARE_AI",
        "live, sandbox or off: where texts, images and videos come from (live with a key below, else sandbox with SQLite, else off).",
    ),
    (
        "FANFARE_AI_TEXT_URL",
        "An endpoint of OpenAI's form for texts, up to /v1; without it xAI's or Google's by their keys.",
    ),
    ("FANFARE_AI_TEXT_MODEL", "The model that writes texts there."),
    ("FANFARE_AI_TEXT_KEY", "Its key."),
    ("FANFARE_XAI_URL", "The address of xAI's API (https://api.x.ai/v1)."),
    ("FANFARE_XAI_KEY", "Key of xAI, for images and videos."),
    ("FANFARE_XAI_VIDEO_MODEL", "The model that makes videos there if a request names none."),
    (
        "FANFARE_GOOGLE_AI_URL",
        "The address of Google's models (https://generativelanguage.googleapis.com).",
    ),
    ("FANFARE_GOOGLE_AI_KEY", "Key of Google's models, for images and videos."),
    ("FANFARE_GOOGLE_AI_VIDEO_MODEL", "The model that makes videos there if a request names none."),
    (
        "FANFARE_VERTEX_PROJECT",
        "Project at Google's Vertex AI, which then makes the videos of google_veo.",
    ),
    ("FANFARE_VERTEX_LOCATION", "The region its models run in (us-central1)."),
    ("FANFARE_VERTEX_CREDENTIALS", "JSON file of a service account that may use it."),
    (
        "FANFARE_VERTEX_URL",
        "The address of Vertex AI (https://LOCATION-aiplatform.googleapis.com).",
    ),
    ("FANFARE_VERTEX_VIDEO_MODEL", "The model that makes videos there if a request names none."),
    ("FANFARE_CREDIT_FACTOR", "Multiplies what everything costs in credits (1)."),
    ("FANFARE_AI_MODELS", "JSON file of what models offer and cost (that in the binary)."),
    ("FANFARE_SIGNUP", "open or closed: whether anybody may sign up (open)."),
    (
        "FANFARE_SMTP_URL",
        "Mail server: smtps://user:password@host, or smtp://…:587, which must offer STARTTLS; without it e-mails stand at /dev/mail on loopback.",
    ),
    ("FANFARE_MAIL_FROM", "Whom e-mails are from, such as Fanfare <hello@example.com>."),
    (
        "FANFARE_OAUTH_GRACE",
        "The time for which a spent OAuth refresh token still gets its successor, at most 60s (30s).",
    ),
    (
        "FANFARE_REAUTH",
        "Age of a log-in after which its password is asked for again before something grave (1h).",
    ),
    (
        "FANFARE_DRAIN_DELAY",
        "After SIGTERM, the time for which up and api still take requests while /readyz answers 503, so that a balancer can notice (0s).",
    ),
    ("FANFARE_LIMITS_FACTOR", "Multiplies every inbound limit (1)."),
    ("FANFARE_TRUSTED_PROXIES", "Networks whose X-Forwarded-For is believed, separated by commas."),
    (
        "FANFARE_LOG",
        "The level of the log: error, warn, info, debug, trace, or a tracing filter (info; on a terminal without what libraries say).",
    ),
    ("FANFARE_LOG_FORMAT", "text or json (text)."),
    ("FANFARE_FAILPOINT", "For crash tests: the named place at which a process stops for good."),
    ("FANFARE_URL", "For client commands: the service's origin (http://127.0.0.1:8080)."),
    ("FANFARE_API_KEY", "For client commands: the API key."),
];
