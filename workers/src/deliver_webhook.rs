//! Delivering one event to one webhook.

use std::time::Duration;

use fanfare_core::{
    durable::{self, Lease},
    webhooks::{delivery as deliveries, receivers},
};
use fanfare_entities::{Millis, webhook_delivery::DeliveryStatus};
use fanfare_jobs::{DeliverWebhook, JobKind};
use fanfare_metrics::record;
use fanfare_outbound::Download;
use hmac::{Hmac, KeyInit, Mac};
use rand::RngExt;
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use tracing::Instrument;
use url::Url;

use crate::{
    Context,
    dispatcher::{Line, Request, SLOT_TIMEOUT, deferred_until},
};

/// The longest time that a receiver may take for one attempt.
const DEADLINE: Duration = Duration::from_secs(10);

/// The most bytes of a receiver's reply to keep.
const MAX_REPLY_KEPT: usize = 2_048;

/// The waits after the first, second, … failed attempt, in seconds; after the last one the delivery has failed.
const BACKOFF: [u64; 7] = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];

/// The longest wait that a receiver may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 3_600);

/// Claims a delivery if it is due, and makes one attempt.
pub async fn run(job: DeliverWebhook, cx: Context) {
    let claimed = match cx.claim_delivery.call((), job.id).await {
        Ok(Some(claimed)) => claimed,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the delivery will be enqueued again");
            return;
        }
    };
    let span = tracing::error_span!(
        "delivery",
        delivery.id = %claimed.delivery.uid, webhook.id = %claimed.delivery.webhook_id,
        event = claimed.delivery.event_type, request.id = claimed.request_id,
    );
    process(cx, claimed).instrument(span).await;
}

async fn process(cx: Context, claimed: deliveries::ClaimedDelivery) {
    tracing::debug!("a delivery was claimed");
    cx.failpoint.reach("delivery_claimed").await;
    let lease = Lease { id: claimed.delivery.id.0, fencing_token: claimed.delivery.fencing_token };
    let tenant = claimed.delivery.workspace_id;
    let order = (claimed.delivery.created_at, claimed.delivery.id.0);
    let line = Some((Line::Receiver(claimed.delivery.webhook_id), order));
    let wish = cx.delivery_dispatcher.request(Request { tenant, platform: None, line });
    let Some(slot) = wish.wait(cx.domain.clock.sleep(SLOT_TIMEOUT)).await else {
        return defer(&cx, lease).await;
    };
    if claimed.delivery.attempts == 0 {
        let late_by = cx.now() - claimed.delivery.updated_at;
        cx.counters.began(JobKind::DeliverWebhook, "", late_by);
    }
    let outcome = attempt(&cx, claimed).await;
    drop(slot);
    cx.failpoint.reach("delivery_sent").await;
    record::webhook_delivery(match outcome.status {
        DeliveryStatus::Delivered => "delivered",
        DeliveryStatus::Pending => "retried",
        DeliveryStatus::Failed if outcome.gone => "gone",
        DeliveryStatus::Failed => "failed",
    });
    let (tries, status) = (outcome.attempts, outcome.last_status);
    if outcome.status == DeliveryStatus::Delivered {
        tracing::debug!(tries, status, "a webhook took a delivery");
    } else {
        // The reply is not logged: a receiver may repeat what it was sent.
        tracing::info!(tries, status, "a webhook did not take a delivery");
    }
    cx.counters.delivery(outcome.status);
    if let Err(error) = cx.finish_delivery.call((), outcome).await {
        tracing::warn!(%error, "a delivery's result was not written; it will be made again");
    }
}

/// Gives back a delivery that found no slot.
async fn defer(cx: &Context, lease: Lease) {
    let at = deferred_until(cx.now());
    if let Err(error) = durable::release(&cx.domain, JobKind::DeliverWebhook, &[lease], at).await {
        tracing::warn!(%error, "a delivery could not be given back; it is due again when its lease expires");
    }
}

async fn attempt(
    cx: &Context,
    claimed: deliveries::ClaimedDelivery,
) -> deliveries::DeliveryOutcome {
    let row = &claimed.delivery;
    let mut outcome = deliveries::DeliveryOutcome {
        lease: Lease { id: row.id.0, fencing_token: row.fencing_token },
        workspace_id: row.workspace_id,
        webhook_id: row.webhook_id,
        status: DeliveryStatus::Failed,
        due_at: None,
        attempts: row.attempts + 1,
        last_status: None,
        last_error: None,
        gone: false,
    };
    let (Some(hook), Some(body)) = (&claimed.webhook, &claimed.body) else {
        outcome.last_error = Some("the webhook or the event is no longer there".to_owned());
        return outcome;
    };
    let mut named = None;
    match send(cx, &claimed, &hook.url, body.to_string()).await {
        Ok((status, reply, asked)) => {
            named = asked;
            outcome.last_status = Some(i32::from(status));
            outcome.gone = status == 410;
            if (200..300).contains(&status) {
                outcome.status = DeliveryStatus::Delivered;
                return outcome;
            }
            outcome.last_error = Some(format!("answered {status}: {reply}"));
        }
        Err(why) => outcome.last_error = Some(why),
    }
    if !outcome.gone
        && let Some(at) = next_attempt_at(outcome.attempts, named, cx.now())
    {
        outcome.status = DeliveryStatus::Pending;
        outcome.due_at = Some(at);
    }
    outcome
}

async fn send(
    cx: &Context,
    claimed: &deliveries::ClaimedDelivery,
    url: &str,
    body: String,
) -> Result<(u16, String, Option<Duration>), String> {
    let url = Url::parse(url).map_err(|_| "the address is not valid".to_owned())?;
    let signed = signature(&claimed.secrets, cx.now() / 1_000, &body);
    let row = &claimed.delivery;
    let http = receivers::client(&cx.domain, &url);
    let mut request = http.counted_as("webhook").post(url);
    if let Some(name) = &cx.domain.settings.signature_header {
        request = request.header(name, &signed);
    }
    let reply = request
        .header("X-Fanfare-Signature", &signed)
        .header("X-Fanfare-Event", &row.event_type)
        .header("X-Fanfare-Delivery", &row.uid.to_string())
        .body("application/json", body.into())
        .deadline(DEADLINE)
        // `read_beginning` reads only the first bytes.
        .max_reply(usize::MAX)
        .open()
        .await
        .map_err(|error| error.to_string())?;
    let (status, asked) = (reply.status, reply.retry_after());
    Ok((status, read_beginning(reply).await, asked))
}

/// Reads the first bytes of a reply, and no more of it.
async fn read_beginning(mut reply: Download) -> String {
    let mut kept = Vec::new();
    while kept.len() < MAX_REPLY_KEPT {
        match reply.chunk().await {
            Ok(Some(bytes)) => kept.extend_from_slice(&bytes),
            Ok(None) | Err(_) => break,
        }
    }
    kept.truncate(MAX_REPLY_KEPT);
    String::from_utf8_lossy(&kept).replace('\0', "")
}

/// Returns `t=<seconds>,v1=<hex>`, with one `v1` for each valid secret; `<t>.<body>` is signed.
fn signature(secrets: &[SecretString], seconds: Millis, body: &str) -> String {
    let mut header = format!("t={seconds}");
    for secret in secrets {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()) else {
            continue;
        };
        mac.update(format!("{seconds}.").as_bytes());
        mac.update(body.as_bytes());
        header.push_str(",v1=");
        for byte in mac.finalize().into_bytes() {
            header.push_str(&format!("{byte:02x}"));
        }
    }
    header
}

/// Returns the time of the next attempt, if one is left: after the usual wait, or a longer one that the receiver asked
/// for.
fn next_attempt_at(tries: i32, asked: Option<Duration>, now: Millis) -> Option<Millis> {
    let place = usize::try_from(tries).ok()?.checked_sub(1)?;
    let wait = Duration::from_secs(*BACKOFF.get(place)?);
    let wait = wait.mul_f64(rand::rng().random_range(0.9..1.1));
    let wait = wait.max(asked.unwrap_or_default().min(MAX_RETRY_AFTER));
    Some(now + Millis::try_from(wait.as_millis()).unwrap_or(Millis::MAX / 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_hmac_sha256_over_time_and_body() {
        // Computed with: printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac whsec_test
        let signed = signature(&[SecretString::from("whsec_test")], 1_700_000_000, r#"{"a":1}"#);
        let expected = "38877139021993b830af32feea6e18a8da83eb2f6e49ee50bd9e4cf4ca4d3789";
        assert_eq!(signed, format!("t=1700000000,v1={expected}"));
        let two = signature(&["a".into(), "b".into()], 1, "x");
        assert_eq!(two.matches(",v1=").count(), 2);
    }

    #[test]
    fn the_guide_says_when_it_is_tried_again() {
        let (minute, hour) = (60, 3_600);
        let said = [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour];
        assert_eq!(BACKOFF, said);
        let words = "then after 5 seconds, 5 minutes, 30 minutes, 2 hours, 5 hours, 10 hours and 10 hours, each ± 10 %";
        let guide = include_str!("../../docs/guides/webhooks.md");
        assert!(guide.contains(words) && guide.contains("within 10 seconds"));
        assert_eq!(DEADLINE.as_secs(), 10);
    }

    #[test]
    fn eight_tries_and_no_more() {
        assert!((1..=7).all(|tries| next_attempt_at(tries, None, 0).is_some()));
        assert_eq!(next_attempt_at(8, None, 0), None);
        assert!((4_500..=5_500).contains(&next_attempt_at(1, None, 0).unwrap()));
    }

    #[test]
    fn a_receiver_may_ask_for_a_longer_wait_of_up_to_a_day() {
        let next = |seconds| next_attempt_at(1, Some(Duration::from_secs(seconds)), 0).unwrap();
        assert_eq!(next(120), 120_000);
        assert!((4_500..=5_500).contains(&next(1)), "not a shorter one");
        assert_eq!(next(99_999_999_999), 86_400_000);
    }
}
