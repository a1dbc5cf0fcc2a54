//! The control API of the simulated Stripe: the user's actions on pages, the clock, cards, and how webhooks are sent.

use std::time::Duration;

use salvo::http::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    Stripe, checkout,
    deliver::DeliveryMode,
    error::{StripeError, StripeResult},
    objects::{Objects, text},
    refunds,
};
use crate::{call::Call, reply::Reply};

/// The longest step of the clock.
const ADVANCE_MAX: Duration = Duration::from_secs(3_660 * 86_400);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    advance: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Card {
    declines: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Close {
    status: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Send {
    events: Vec<String>,
}

/// Returns the refusal of a request without the simulator's secret.
pub(super) fn refused() -> Reply {
    let message = "The simulator's secret is asked for as a bearer token.";
    StripeError::invalid(message).with_status(401).reply()
}

/// Does what a user does on the page of a checkout, whose address is a secret. Actions of the bank need the simulator's
/// secret.
pub(super) fn checkout(
    stripe: &Stripe,
    call: &Call,
    (id, verb): (&str, &str),
    opens: bool,
) -> Reply {
    let done = stripe.with(|books| match verb {
        "pay" => checkout::pay(books, id, false),
        "async" => checkout::pay(books, id, true),
        "decline" => checkout::open(books, id).map(|_| ()),
        "cancel" => checkout::open(books, id).map(|_| ()).map(|()| checkout::expire(books, id)),
        "settle" if opens => checkout::payment_arrived(books, id),
        "fail" if opens => checkout::fail(books, id),
        _ => Err(StripeError::invalid("There is no such switch.").with_status(404)),
    });
    let session = stripe.with(|books| books.any(id).cloned()).unwrap_or_default();
    if call.header("authorization").is_some() {
        return match done {
            Ok(()) => Reply::ok(&super::objects::shown(&session)),
            Err(refusal) => refusal.reply(),
        };
    }
    let back = |place: String| Reply::empty(303).with("location", place);
    match (verb, done) {
        ("pay" | "async", Ok(())) => back(checkout::success_url(&session)),
        ("cancel", Ok(())) if !text(&session, "cancel_url").is_empty() => {
            back(text(&session, "cancel_url").to_owned())
        }
        ("decline", Ok(())) | ("pay", Err(_)) if session["status"] == "open" => {
            back(format!("{}/stripe/checkout/{id}?declined=1", stripe.env.pages()))
        }
        (_, Ok(())) => back(format!("{}/stripe/checkout/{id}", stripe.env.pages())),
        (_, Err(refusal)) => refusal.reply(),
    }
}

/// Answers the other control requests.
pub(super) fn answer(stripe: &Stripe, call: &Call, path: &[&str]) -> Reply {
    let done = match (call.method.as_str(), path) {
        ("GET", ["clock"]) => Ok(stripe.with(|books| clock(books))),
        ("POST", ["clock"]) => advance(stripe, call),
        ("POST", ["customers", id, "card"]) => card(stripe, call, id),
        ("POST", ["charges", id, "dispute"]) => stripe.with(|books| {
            let id = refunds::dispute(books, id)?;
            Ok(books.shown(&id))
        }),
        ("POST", ["disputes", id, "close"]) => body::<Close>(call).and_then(|close| {
            stripe.with(|books| {
                let id = refunds::close(books, id, &close.status)?;
                Ok(books.shown(&id))
            })
        }),
        ("POST", ["refunds", id, "fail"]) => stripe.with(|books| {
            let id = refunds::fail(books, id)?;
            Ok(books.shown(&id))
        }),
        ("GET", ["deliveries"]) => Ok(stripe.deliveries()),
        ("PUT", ["deliveries"]) => body::<DeliveryMode>(call).map(|mode| {
            stripe.change_mode(&mode);
            json!(stripe.mode())
        }),
        _ => Err(StripeError::invalid("There is no such switch.").with_status(404)),
    };
    match done {
        Ok(body) => Reply::ok(&body),
        Err(refusal) => refusal.reply(),
    }
}

/// Sends each of these events once, in this order; returns for each whether the product accepted it.
pub(super) async fn send(stripe: &Stripe, call: &Call) -> Reply {
    let events = match body::<Send>(call) {
        Ok(send) => send.events,
        Err(refusal) => return refusal.reply(),
    };
    let mut taken = Vec::with_capacity(events.len());
    for id in &events {
        taken.push(stripe.send(id).await);
    }
    Reply::ok(&json!({ "taken": taken }))
}

fn clock(books: &Objects) -> Value {
    json!({"now": books.now, "offset_ms": books.lead_ms()})
}

fn advance(stripe: &Stripe, call: &Call) -> StripeResult<Value> {
    let by = body::<Advance>(call)?.advance;
    let wrong =
        || StripeError::invalid("`advance` must be a time such as 31d or 12h.").about("advance");
    let by = duration(&by).filter(|by| *by <= ADVANCE_MAX).ok_or_else(wrong)?;
    let by = i64::try_from(by.as_millis()).map_err(|_| wrong())?;
    let machine_ms = stripe.env.now_ms();
    let moved = stripe.with(|books| {
        let lead = books.lead_ms() + by;
        books.set_lead_ms(lead);
        books.follow(machine_ms);
        super::clock::catch_up(books);
        clock(books)
    });
    Ok(moved)
}

/// Parses a duration like `31d`, `12h`, `90m` or `30s`.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "d" => 86_400,
        "h" => 3_600,
        "m" => 60,
        "s" => 1,
        _ => return None,
    };
    Some(Duration::from_secs(number.parse::<u64>().ok()?.checked_mul(seconds)?))
}

/// Has the card of a customer decline, or no longer. The customer is named by its id or by its e-mail address.
fn card(stripe: &Stripe, call: &Call, named: &str) -> StripeResult<Value> {
    let card = body::<Card>(call)?;
    stripe.with(|books| {
        let customers = books.all("customer");
        let of_address = customers.iter().find(|one| text(one, "email") == named);
        let id = of_address.map_or(named, |one| text(one, "id")).to_owned();
        books.find("customer", &id, "id")?;
        books.set(&id, json!({"_declines": card.declines}));
        Ok(json!({"customer": id, "declines": card.declines}))
    })
}

fn body<T: DeserializeOwned>(call: &Call) -> StripeResult<T> {
    if call.method == Method::GET {
        return Err(StripeError::invalid("This switch takes a body."));
    }
    serde_json::from_slice(&call.body).map_err(|error| StripeError::invalid(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(duration("31d"), Some(Duration::from_secs(31 * 86_400)));
        assert_eq!(duration("90m"), Some(Duration::from_secs(5_400)));
        for bad in ["", "d", "31", "-1d", "1y", "99999999999999999999d", "ä"] {
            assert_eq!(duration(bad), None, "{bad}");
        }
    }
}
