//! `fanfare doctor`: checks everything that Fanfare needs.

mod networks;

use std::process::Stdio;

use anyhow::{Result, bail};
use fanfare_core::{
    clock::{date, machine_now},
    db::Db,
};
use fanfare_jobs::Queue;
use fanfare_media::Store;
use fanfare_outbound::{Client, Policy};
use fanfare_payments::{FailureKind, Stripe};
use fanfare_people::billing;

use super::say;
use crate::{config::Config, start};

/// The clock error from which on there is a warning, in ms.
const SKEW: i64 = 2_000;

/// The result of a check: `Ok` with a description, or `Err` with the remedy.
type Finding = std::result::Result<String, String>;

/// Runs all checks, and prints a remedy for each failure.
///
/// # Errors
/// Something is missing.
pub async fn run(config: Config) -> Result<()> {
    crate::init_log(&config)?;
    let db = &open(&config).await;
    let findings = [
        ("database", schema(&config, db).await),
        ("connections", connections(&config, db).await),
        ("master key", master_key(&config, db).await),
        ("commits", commits(db).await),
        ("clock", clock(db).await),
        ("redis", redis(&config).await),
        ("media store", media(&config).await),
        ("ffmpeg", ffmpeg(&config).await),
        ("mail", mail(&config).await),
        ("payments", payments(&config).await),
    ];
    let mut missing = 0;
    for (what, finding) in findings {
        match finding {
            Ok(found) => say(format_args!("ok       {what}: {found}")),
            Err(advice) => {
                missing += 1;
                say(format_args!("MISSING  {what}: {advice}"));
            }
        }
    }
    if config.mailer.is_none() {
        say(format_args!(
            "warning  mail: no mail server is set, so nobody gets an e-mail; set FANFARE_SMTP_URL and FANFARE_MAIL_FROM \
             (on loopback e-mails stand at /dev/mail)"
        ));
    }
    if let Some(warning) = limits(&config) {
        say(format_args!("warning  limits: {warning}"));
    }
    let has_app = |id| config.apps.contains_key(&id);
    for warning in networks::api_versions(has_app, date(machine_now()).date_naive()) {
        say(format_args!("warning  API: {warning}"));
    }
    if let Some(note) = networks::without_app(has_app) {
        say(format_args!("note     apps: {note}"));
    }
    if missing > 0 {
        bail!("{missing} requirements are not met; see above");
    }
    Ok(())
}

/// The database, or why it cannot be reached.
type DatabaseResult = std::result::Result<Db, String>;

async fn open(config: &Config) -> DatabaseResult {
    if config.is_embedded() {
        config.make_data_dir().map_err(|error| {
            format!("{error:#}; set FANFARE_DATA_DIR to a directory you may write")
        })?;
    }
    Db::open(&config.database_url, 1)
        .await
        .map_err(|error| format!("{error}; check FANFARE_DATABASE_URL and that the server runs"))
}

async fn schema(config: &Config, db: &DatabaseResult) -> Finding {
    let db = db.as_ref().map_err(Clone::clone)?;
    let kind = if db.is_postgres() { "PostgreSQL" } else { "SQLite" };
    match fanfare_migration::check(&db.write).await {
        Ok(()) => Ok(format!("{kind}, schema up to date")),
        Err(fanfare_migration::Error::Older) if config.is_embedded() => {
            Ok(format!("{kind}, the schema is made at the first start"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Checks that the master keys open what is stored.
async fn master_key(config: &Config, db: &DatabaseResult) -> Finding {
    let Ok(db) = db else {
        return Err("cannot be tried without the database".into());
    };
    let is_new = fanfare_migration::check(&db.write).await.is_err();
    let file = config.data_dir.join("master.key");
    if is_new || (config.is_embedded() && config.master_key.is_none() && !file.exists()) {
        return Ok("nothing is stored yet".to_owned());
    }
    let vault = start::vault(config).map_err(|error| format!("{error:#}"))?;
    vault.check(db).await.map_err(|error| error.to_string())?;
    Ok("opens what is stored".to_owned())
}

async fn connections(config: &Config, db: &DatabaseResult) -> Finding {
    let Ok(db) = db else {
        return Err("cannot be counted without the database".into());
    };
    let pool = i64::from(config.database_pool);
    match db.max_connections().await.map_err(|error| error.to_string())? {
        None => Ok(format!("one to write, up to {pool} to read")),
        Some(most) if most < 2 * pool => Err(format!(
            "each process opens up to {pool} and the server takes {most}: raise max_connections or lower \
             FANFARE_DATABASE_POOL"
        )),
        Some(most) => Ok(format!(
            "up to {pool} a process and one more of an api process; the server takes {most}, so {} processes fit",
            most / (pool + 1)
        )),
    }
}

/// Asks Stripe for the prices of what is sold.
async fn payments(config: &Config) -> Finding {
    let Some(real) = &config.stripe else {
        return Ok("no provider is set; on loopback a simulated one takes its place".to_owned());
    };
    let policy = Policy { allow_private: config.allow_private };
    let http = Client::new(policy).map_err(|error| error.to_string())?;
    let stripe = Stripe::new(&http, real.url.clone(), real.secret_key.clone());
    let missing = billing::missing_prices(&stripe, &config.plans).await;
    let missing = missing.map_err(|failure| match failure.kind {
        FailureKind::Key => format!("{failure}; check FANFARE_STRIPE_SECRET_KEY"),
        FailureKind::Unavailable | FailureKind::Limited => {
            format!("{failure}; check the way to {} and try again", real.url)
        }
        _ => failure.to_string(),
    })?;
    if real.webhook_secrets.is_empty() {
        return Err("no webhook is believed; set FANFARE_STRIPE_WEBHOOK_SECRET".to_owned());
    }
    if missing.is_empty() {
        return Ok("Stripe answers, and has a price of everything that is sold".to_owned());
    }
    Err(format!("Stripe has no price {}; run `fanfare billing setup`", missing.join(", ")))
}

/// Checks that commits survive a power cut; otherwise posts could be sent twice.
async fn commits(db: &DatabaseResult) -> Finding {
    let Ok(db) = db else {
        return Err("cannot be looked at without the database".into());
    };
    let forgetful = db.durability_problems().await.map_err(|error| error.to_string())?;
    if forgetful.is_empty() {
        return Ok("on the disk before they count".into());
    }
    Err(format!(
        "a power cut may undo them, and posts would go out twice: set {} = on in postgresql.conf",
        forgetful.join(" = on, ")
    ))
}

async fn clock(db: &DatabaseResult) -> Finding {
    let Ok(db) = db else {
        return Err("cannot be compared without the database".into());
    };
    let theirs = db.now().await.map_err(|error| error.to_string())?;
    let off = theirs - machine_now();
    if off.abs() > SKEW {
        return Err(format!("differs from the database's by {off} ms; set up NTP on this machine"));
    }
    Ok(format!("within {} ms of the database's", off.abs()))
}

async fn redis(config: &Config) -> Finding {
    let Some(url) = &config.redis_url else {
        return if config.is_embedded() {
            Ok("not used: the queue is in memory".into())
        } else {
            Err("set FANFARE_REDIS_URL, or workers find posts only by polling the database and count limits for themselves".into())
        };
    };
    let queue = Queue::redis(url).await.map_err(|error| error.to_string())?;
    queue.ping().await.map_err(|error| {
        format!("{error}; start Redis 7 or Valkey, or correct FANFARE_REDIS_URL")
    })?;
    Ok("answers".into())
}

async fn media(config: &Config) -> Finding {
    if let Some(dir) = config.media_url.strip_prefix("file://") {
        std::fs::create_dir_all(dir)
            .map_err(|error| format!("{dir}: {error}; set FANFARE_MEDIA_URL"))?;
    }
    let store = Store::open(&config.media_url, config.media_access.clone());
    let store = store.map_err(|error| format!("{error}; check FANFARE_MEDIA_URL"))?;
    store
        .check()
        .await
        .map_err(|error| format!("{error}; check FANFARE_MEDIA_URL and its keys"))?;
    Ok("takes, gives back and deletes a file".into())
}

/// Checks that both programs run.
async fn ffmpeg(config: &Config) -> Finding {
    const ADVICE: &str = "install ffmpeg (Debian: apt-get install ffmpeg; image: --build-arg WITH_FFMPEG=yes) or set \
        FANFARE_FFMPEG_DIR; until then videos are read by their containers alone, and media that must be converted \
        fails with media_conversion_failed";
    let mut missing = Vec::new();
    for (name, program) in [("ffmpeg", &config.tools.ffmpeg), ("ffprobe", &config.tools.ffprobe)] {
        let runs = match program {
            Some(program) => runs(program).await,
            None => false,
        };
        if !runs {
            missing.push(name);
        }
    }
    if missing.is_empty() {
        Ok("ffmpeg and ffprobe run".into())
    } else {
        Err(format!("no {}: {ADVICE}", missing.join(" and no ")))
    }
}

/// Checks that the mail server accepts a connection; nothing is sent.
async fn mail(config: &Config) -> Finding {
    let Some(mailer) = &config.mailer else { return Ok("not used".into()) };
    let advice = |error| format!("{error}; check FANFARE_SMTP_URL");
    mailer.check().await.map_err(advice)?;
    Ok("the server takes e-mail".into())
}

async fn runs(program: &std::path::Path) -> bool {
    let ran = tokio::process::Command::new(program)
        .arg("-version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .await;
    ran.is_ok_and(|status| status.success())
}

/// Returns a warning if the limits are not the documented ones.
fn limits(config: &Config) -> Option<String> {
    let factor = config.limits_factor;
    let differs = (factor - 1.0).abs() > f64::EPSILON;
    differs.then(|| format!("FANFARE_LIMITS_FACTOR is {factor}; unset it outside tests"))
}
