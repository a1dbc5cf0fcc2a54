//! Products and prices.

use serde_json::{Value, json};

use super::{
    error::{StripeError, StripeResult},
    form::Form,
    objects::Objects,
};

pub(super) fn create_product(books: &mut Objects, form: &Form) -> StripeResult<String> {
    form.require_known(&["id", "name", "description", "active", "metadata.*"])?;
    let name = form.required("name")?.to_owned();
    let body = json!({
        "name": name, "description": form.text("description"),
        "active": form.flag("active")?.unwrap_or(true), "metadata": form.texts_by_name("metadata"),
    });
    let Some(id) = form.text("id") else { return Ok(books.add("prod", "product", body)) };
    if books.any(id).is_some() {
        let message = format!("Product already exists: {id}");
        return Err(StripeError::invalid(message).with_code("resource_already_exists").about("id"));
    }
    books.add_as(id, "product", body);
    Ok(id.to_owned())
}

pub(super) fn update_product(books: &mut Objects, id: &str, form: &Form) -> StripeResult<String> {
    form.require_known(&["name", "description", "active", "metadata.*"])?;
    books.find("product", id, "id")?;
    for name in ["name", "description"] {
        if let Some(text) = form.text(name) {
            books.set(id, json!({ name: text }));
        }
    }
    if let Some(active) = form.flag("active")? {
        books.set(id, json!({ "active": active }));
    }
    Ok(id.to_owned())
}

pub(super) fn create_price(books: &mut Objects, form: &Form) -> StripeResult<String> {
    form.require_known(&[
        "product",
        "currency",
        "unit_amount",
        "recurring.interval",
        "recurring.interval_count",
        "lookup_key",
        "transfer_lookup_key",
        "nickname",
        "metadata.*",
        "active",
    ])?;
    let product = form.required("product")?.to_owned();
    books.find("product", &product, "product")?;
    let currency = form.required("currency")?.to_lowercase();
    let amount = form.integer("unit_amount")?.ok_or_else(|| StripeError::missing("unit_amount"))?;
    let interval = form.word("recurring.interval", &["day", "week", "month", "year"])?;
    let key = form.text("lookup_key").map(str::to_owned);
    if let Some(key) = &key {
        free_lookup_key(books, key, form.flag("transfer_lookup_key")? == Some(true))?;
    }
    let recurring = interval.map(
        |interval| json!({"interval": interval, "interval_count": 1, "usage_type": "licensed"}),
    );
    Ok(books.add(
        "price",
        "price",
        json!({
            "product": product, "currency": currency, "unit_amount": amount,
            "unit_amount_decimal": amount.to_string(), "lookup_key": key, "active": true,
            "type": if recurring.is_some() { "recurring" } else { "one_time" }, "recurring": recurring,
            "billing_scheme": "per_unit", "nickname": form.text("nickname"),
            "metadata": form.texts_by_name("metadata"), "tax_behavior": "unspecified",
        }),
    ))
}

/// Checks that a lookup key is free. It belongs to one price; a new one takes it over only with `transfer_lookup_key`.
fn free_lookup_key(books: &mut Objects, key: &str, transfers: bool) -> StripeResult<()> {
    let held = books.all("price").into_iter().find(|price| price["lookup_key"] == key);
    let Some(id) = held.and_then(|price| price["id"].as_str()).map(str::to_owned) else {
        return Ok(());
    };
    if !transfers {
        let message = format!(
            "A price (`{id}`) already uses that lookup key. To take it over, set `transfer_lookup_key` to true."
        );
        return Err(StripeError::invalid(message).about("lookup_key"));
    }
    books.set(&id, json!({"lookup_key": null}));
    Ok(())
}

pub(super) fn update_price(books: &mut Objects, id: &str, form: &Form) -> StripeResult<String> {
    form.require_known(&["active", "nickname", "lookup_key", "transfer_lookup_key", "metadata.*"])?;
    books.find("price", id, "id")?;
    if let Some(active) = form.flag("active")? {
        books.set(id, json!({ "active": active }));
    }
    if let Some(key) = form.text("lookup_key").map(str::to_owned) {
        free_lookup_key(books, &key, form.flag("transfer_lookup_key")? == Some(true))?;
        books.set(id, json!({ "lookup_key": key }));
    }
    Ok(id.to_owned())
}

/// Returns a price that can be bought.
pub(super) fn purchasable_price<'a>(
    books: &'a Objects,
    id: &str,
    param: &str,
) -> StripeResult<&'a Value> {
    let price = books.find("price", id, param)?;
    if price["active"] != true {
        let message = format!("The price specified is inactive: {id}.");
        return Err(StripeError::invalid(message).about(param));
    }
    Ok(price)
}
