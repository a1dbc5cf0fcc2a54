//! The checkout page, and the portal's.

use url::Url;

use super::objects::{Objects, text};
use crate::{page::escape, reply::Reply, style::CSS};

/// Renders a page that may submit its own forms and follow their redirects.
fn page(title: &str, main: &str, leads_to: &[&str]) -> Reply {
    let origins: Vec<_> = leads_to
        .iter()
        .filter_map(|url| Url::parse(url).ok())
        .map(|url| url.origin().ascii_serialization())
        .collect();
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' {}",
        origins.join(" ")
    );
    let html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>{title}</title><style>{CSS}{BUTTONS}</style></head>\
         <body><main><header><h1>{title}</h1><small>This is a simulated Stripe. No money moves.</small></header>{main}</main></body></html>"
    );
    Reply::html(200, html).with_policy(&policy)
}

const BUTTONS: &str = "form{display:inline}button{font:inherit;margin:.25rem .5rem .25rem 0;padding:.55rem 1.1rem;border:1px solid \
     var(--line);border-radius:.5rem;background:var(--card);color:var(--ink);cursor:pointer}button.main{background:var(--tint);\
     border-color:var(--tint);color:var(--bg)}.wrong{color:var(--tint);margin:0 0 .75rem}td{padding:.2rem 1rem .2rem 0}";

/// `GET /stripe/checkout/{id}`.
pub(super) fn show(books: &Objects, id: &str, declined: bool) -> Reply {
    let Some(session) = books.get("checkout.session", id) else {
        return crate::page::no_such_page();
    };
    let (back, on) = (text(session, "cancel_url"), text(session, "success_url"));
    if session["status"] != "open" {
        let main = format!(
            "<article><p>This checkout is {}.</p></article>",
            escape(text(session, "status"))
        );
        return page("Checkout", &main, &[]);
    }
    let prices = session["_prices"].as_array().cloned().unwrap_or_default();
    let row = |price: &serde_json::Value| {
        let price = books.shown(price.as_str().unwrap_or_default());
        let name = text(&books.shown(text(&price, "product")), "name").to_owned();
        let every = if price["type"] == "recurring" { " a month" } else { "" };
        let cents = price["unit_amount"].as_i64().unwrap_or(0);
        format!(
            "<tr><td>{}</td><td>${}.{:02}{every}</td></tr>",
            escape(&name),
            cents / 100,
            cents % 100
        )
    };
    let rows: String = prices.iter().map(row).collect();
    let total = session["amount_total"].as_i64().unwrap_or(0);
    let email = session["customer_email"].as_str().or_else(|| {
        let customer = books.get("customer", text(session, "customer"))?;
        customer["email"].as_str()
    });
    let wrong =
        if declined { "<p class=\"wrong\" role=\"alert\">Your card was declined.</p>" } else { "" };
    let button = |verb: &str, label: &str, class: &str| {
        format!(
            "<form method=\"post\" action=\"/stripe/checkout/{id}/{verb}\"><button class=\"{class}\">{label}</button></form>"
        )
    };
    let main = format!(
        "<article>{wrong}<p>For {}</p><table>{rows}<tr><td><b>Today</b></td><td><b>${}.{:02}</b></td></tr></table>\
         {}{}{}{}</article>",
        escape(email.unwrap_or("you")),
        total / 100,
        total % 100,
        button("pay", "Pay", "main"),
        button("decline", "Decline", ""),
        button("async", "Pay later", ""),
        button("cancel", "Cancel", ""),
    );
    page("Checkout", &main, &[back, on])
}

/// `GET /stripe/portal/{id}`.
pub(super) fn portal(books: &Objects, id: &str) -> Reply {
    let Some(session) = books.get("billing_portal.session", id) else {
        return crate::page::no_such_page();
    };
    let customer = books.shown(text(session, "customer"));
    let invoices: String = books
        .all("invoice")
        .into_iter()
        .filter(|invoice| invoice["customer"] == session["customer"])
        .map(|invoice| {
            let cents = invoice["total"].as_i64().unwrap_or(0);
            format!(
                "<li>${}.{:02}, {}</li>",
                cents / 100,
                cents % 100,
                escape(text(invoice, "status"))
            )
        })
        .collect();
    let back = text(session, "return_url");
    let link = if back.is_empty() {
        String::new()
    } else {
        format!("<p><a href=\"{}\">Back</a></p>", escape(back))
    };
    let main = format!(
        "<article><p>{}</p></article><h2>Invoices</h2><ul>{invoices}</ul>{link}",
        escape(text(&customer, "email"))
    );
    page("Billing", &main, &[])
}
