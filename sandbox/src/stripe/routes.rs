//! The API's routes: checks the key, the version and the parameters, replays the stored response of a repeated request,
//! or runs the operation.

use salvo::http::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    Stripe, VERSION, catalog, checkout, customers,
    error::{StripeError, StripeResult},
    form::Form,
    objects::{Objects, shown},
    refunds, schedules, subscriptions,
};
use crate::{call::Call, reply::Reply};

/// The most rows of a list.
const PAGE: i64 = 100;

/// Answers `/v1/{path}`.
pub(super) fn answer(stripe: &Stripe, call: &Call, path: &[&str]) -> Reply {
    let reply = match authenticated_form(stripe, call) {
        Ok(form) => answered(stripe, call, path, &form).unwrap_or_else(|refusal| refusal.reply()),
        Err(refusal) => refusal.reply(),
    };
    // The usual header, but by the account's clock.
    let now = stripe.with(|books| crate::env::utc(books.now * 1_000));
    reply.with("date", now.format("%a, %d %b %Y %H:%M:%S GMT"))
}

/// Checks the key and the version, and reads the parameters.
fn authenticated_form(stripe: &Stripe, call: &Call) -> StripeResult<Form> {
    let basic = call.basic().map(|(user, _)| user);
    let key = call.bearer().map(str::to_owned).or(basic);
    if !key.is_some_and(|key| stripe.is_secret_key(&key)) {
        return Err(StripeError::unauthorized());
    }
    if let Some(version) = call.header("stripe-version").filter(|version| *version != VERSION) {
        return Err(StripeError::invalid(format!("Invalid Stripe API version: {version}")));
    }
    Form::read(call)
}

fn answered(stripe: &Stripe, call: &Call, path: &[&str], form: &Form) -> StripeResult<Reply> {
    let pages = stripe.env.pages();
    if call.method == Method::GET {
        return stripe.with(|books| read(books, path, form)).map(|body| Reply::ok(&body));
    }
    if path == ["invoices", "create_preview"] && call.method == Method::POST {
        return stripe
            .with(|books| subscriptions::preview(books, form))
            .map(|body| Reply::ok(&body));
    }
    let key = call.header("idempotency-key").filter(|key| !key.is_empty());
    stripe.with(|books| {
        let kept = key.map(|key| format!("_idempotency {key}"));
        let asked = fingerprint(call);
        if let (Some(key), Some(kept)) = (key, &kept)
            && let Some(before) = books.any(kept)
        {
            if before["asked"] != asked.as_str() {
                return Err(StripeError::other_parameters(key));
            }
            let status = before["status"].as_u64().and_then(|status| u16::try_from(status).ok());
            let reply = Reply::raw(status.unwrap_or(200), before["body"].to_string());
            return Ok(reply.with("idempotent-replayed", "true"));
        }
        let id = write(books, &call.method, path, form, &pages)?;
        let body = expanded(books, &books.shown(&id), form);
        if let Some(kept) = kept {
            books.store(&kept, json!({"asked": asked, "status": 200, "body": body}));
        }
        Ok(Reply::ok(&body))
    })
}

fn fingerprint(call: &Call) -> String {
    let mut hash = Sha256::new();
    for part in [call.method.as_str().as_bytes(), call.path.as_bytes(), &call.body] {
        hash.update(part);
        hash.update(b"\n");
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs a change; returns the id of the object to return.
fn write(
    books: &mut Objects,
    method: &Method,
    path: &[&str],
    form: &Form,
    pages: &str,
) -> StripeResult<String> {
    match (method.as_str(), path) {
        ("POST", ["customers"]) => customers::create(books, form),
        ("POST", ["customers", id]) => customers::update(books, id, form),
        ("POST", ["products"]) => catalog::create_product(books, form),
        ("POST", ["products", id]) => catalog::update_product(books, id, form),
        ("POST", ["prices"]) => catalog::create_price(books, form),
        ("POST", ["prices", id]) => catalog::update_price(books, id, form),
        ("POST", ["checkout", "sessions"]) => checkout::create(books, form, pages),
        ("POST", ["checkout", "sessions", id, "expire"]) => {
            checkout::open(books, id)?;
            checkout::expire(books, id);
            Ok((*id).to_owned())
        }
        ("POST", ["subscriptions", id]) => subscriptions::update(books, id, form),
        ("DELETE", ["subscriptions", id]) => subscriptions::cancel(books, id, form),
        ("POST", ["subscription_schedules"]) => schedules::create(books, form),
        ("POST", ["subscription_schedules", id]) => schedules::update(books, id, form),
        ("POST", ["subscription_schedules", id, "release"]) => schedules::release(books, id, form),
        ("POST", ["refunds"]) => refunds::create(books, form),
        ("POST", ["billing_portal", "configurations"]) => customers::configure_portal(books, form),
        ("POST", ["billing_portal", "sessions"]) => customers::open_portal(books, form, pages),
        _ => Err(unknown(method, path)),
    }
}

/// The kinds of objects that can be read: the path, the name, and the fields by which a list can be filtered.
const READABLE: &[(&str, &str, &[&str])] = &[
    ("customers", "customer", &["email"]),
    ("products", "product", &["active"]),
    ("prices", "price", &["active", "product", "type"]),
    (
        "checkout/sessions",
        "checkout.session",
        &["customer", "payment_intent", "status", "subscription"],
    ),
    ("subscriptions", "subscription", &["customer", "status"]),
    ("subscription_schedules", "subscription_schedule", &["customer"]),
    ("invoices", "invoice", &["customer", "status", "subscription"]),
    ("invoice_payments", "invoice_payment", &["invoice", "status"]),
    ("payment_intents", "payment_intent", &["customer"]),
    ("charges", "charge", &["customer", "payment_intent"]),
    ("refunds", "refund", &["charge", "payment_intent"]),
    ("disputes", "dispute", &["charge", "payment_intent"]),
    ("billing_portal/configurations", "billing_portal.configuration", &["active", "is_default"]),
    ("events", "event", &["type"]),
];

fn read(books: &Objects, path: &[&str], form: &Form) -> StripeResult<Value> {
    let joined = path.join("/");
    for (place, kind, narrowed_by) in READABLE {
        if joined == *place {
            return list(books, kind, narrowed_by, &joined, form);
        }
        if let Some(id) = joined.strip_prefix(place).and_then(|rest| rest.strip_prefix('/')) {
            form.require_known(&[])?;
            if let ("checkout.session", Some(id)) = (*kind, id.strip_suffix("/line_items")) {
                let session = books.find(kind, id, "id")?;
                return Ok(line_items(books, session));
            }
            return Ok(expanded(books, &shown(books.find(kind, id, "id")?), form));
        }
    }
    Err(unknown(&Method::GET, path))
}

fn list(
    books: &Objects,
    kind: &str,
    narrowed_by: &[&str],
    url: &str,
    form: &Form,
) -> StripeResult<Value> {
    let mut known = vec!["limit", "starting_after", "ending_before", "created*"];
    known.extend(narrowed_by);
    if kind == "price" {
        known.push("lookup_keys.");
    }
    form.require_known(&known)?;
    let limit = form.integer("limit")?.unwrap_or(10);
    if !(1..=PAGE).contains(&limit) {
        let message = "This value must be between 1 and 100.";
        return Err(StripeError::invalid(message).about("limit"));
    }
    let keys = form.texts("lookup_keys");
    let mut rows: Vec<&Value> = books.all(kind);
    rows.retain(|row| {
        let fits = |name: &&str| match form.text(name) {
            Some("all") if *name == "status" => true,
            Some(wanted) => member(row, kind, name).as_deref() == Some(wanted),
            // As at Stripe, ended subscriptions are listed only on request.
            None => !(*name == "status" && kind == "subscription" && row["status"] == "canceled"),
        };
        let is_named =
            keys.is_empty() || row["lookup_key"].as_str().is_some_and(|key| keys.contains(&key));
        narrowed_by.iter().all(fits) && is_named && was_created_when_asked(row, form)
    });
    if let Some(after) = form.text("starting_after") {
        let place = rows.iter().position(|row| row["id"] == after);
        let place = place.ok_or_else(|| StripeError::no_such(kind, after, "starting_after"))?;
        rows.drain(..=place);
    }
    let limit = usize::try_from(limit).unwrap_or(1);
    let has_more = rows.len() > limit;
    let data: Vec<_> = rows
        .into_iter()
        .take(limit)
        .map(|row| expanded_in_list(books, &shown(row), form))
        .collect();
    Ok(json!({"object": "list", "url": format!("/v1/{url}"), "has_more": has_more, "data": data}))
}

/// Returns true if an object's time is within `created[gt|gte|lt|lte]`.
fn was_created_when_asked(row: &Value, form: &Form) -> bool {
    let created = row["created"].as_i64().unwrap_or(0);
    let bound = |name: &str| form.integer(&format!("created.{name}")).ok().flatten();
    bound("gte").is_none_or(|bound| created >= bound)
        && bound("gt").is_none_or(|bound| created > bound)
        && bound("lte").is_none_or(|bound| created <= bound)
        && bound("lt").is_none_or(|bound| created < bound)
}

/// Returns a field by which lists are filtered, as text.
fn member(row: &Value, kind: &str, name: &str) -> Option<String> {
    if (kind, name) == ("invoice", "subscription") {
        return Some(super::clock::subscription_of(row));
    }
    match &row[name] {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn line_items(books: &Objects, session: &Value) -> Value {
    let prices = session["_prices"].as_array().cloned().unwrap_or_default();
    let line = |id: &Value| {
        let price = books.shown(id.as_str().unwrap_or_default());
        json!({"object": "item", "price": price, "quantity": 1, "amount_total": price["unit_amount"], "currency": "usd"})
    };
    json!({"object": "list", "data": prices.iter().map(line).collect::<Vec<_>>(), "has_more": false})
}

/// Returns an object in which `expand[]` replaces ids by objects.
fn expanded(books: &Objects, object: &Value, form: &Form) -> Value {
    let mut object = object.clone();
    for path in form.texts("expand") {
        expand(books, &mut object, path);
    }
    object
}

fn expanded_in_list(books: &Objects, object: &Value, form: &Form) -> Value {
    let mut object = object.clone();
    for path in form.texts("expand") {
        expand(books, &mut object, path.strip_prefix("data.").unwrap_or(path));
    }
    object
}

fn expand(books: &Objects, object: &mut Value, path: &str) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    if first == "line_items" && object["object"] == "checkout.session" {
        let items = books.any(object["id"].as_str().unwrap_or_default());
        object["line_items"] = items.map_or(Value::Null, |session| line_items(books, session));
        return;
    }
    let Some(below) = object.get_mut(first) else { return };
    if let Some(id) = below.as_str() {
        *below = books.any(id).map_or_else(|| below.clone(), shown);
    }
    if !rest.is_empty() {
        expand(books, below, rest);
    }
}

fn unknown(method: &Method, path: &[&str]) -> StripeError {
    let message = format!("Unrecognized request URL ({method}: /v1/{}).", path.join("/"));
    StripeError::invalid(message).with_status(404)
}
