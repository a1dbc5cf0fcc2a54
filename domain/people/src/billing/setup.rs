//! Creates products and prices at Stripe. They are found by our names for them, so creating them needs no recorded
//! call.

use std::collections::BTreeMap;

use fanfare_core::{Domain, error::Result};
use fanfare_payments::{Failure, List, Price, Request, Stripe};
use serde_json::Value;

use super::{Plans, misconfigured, stripe_error};

/// A product to create at Stripe.
struct Product<'a> {
    key: &'a str,
    name: String,
    cents: i64,
    is_monthly: bool,
}

fn sold_products(plans: &Plans) -> Vec<Product<'_>> {
    let addon = &plans.api_addon;
    let mut all: Vec<_> = plans
        .plans
        .iter()
        .map(|plan| Product {
            key: &plan.lookup_key,
            name: format!("Fanfare {}", plan.tier.replace('_', " ")),
            cents: plan.price,
            is_monthly: true,
        })
        .collect();
    all.push(Product {
        key: &addon.lookup_key,
        name: "Fanfare API add-on".to_owned(),
        cents: addon.price,
        is_monthly: true,
    });
    all.extend(plans.packs.iter().map(|pack| Product {
        key: &pack.lookup_key,
        name: format!("Fanfare {} credits", pack.credits),
        cents: pack.price,
        is_monthly: false,
    }));
    all
}

/// Creates the products and prices that are missing or have changed, and returns the lookup keys. Run again it creates
/// nothing.
///
/// # Errors
/// [`fanfare_core::Code::BillingNotConfigured`], or Stripe's.
pub async fn setup(cx: &Domain) -> Result<Vec<String>> {
    let stripe = &crate::settings(cx).require_billing()?.stripe;
    let mut made = Vec::new();
    let all = sold_products(&crate::settings(cx).plans);
    let known = prices(cx, &all.iter().map(|one| one.key).collect::<Vec<_>>()).await?;
    for one in all {
        let same = |price: &&Price| {
            price.unit_amount == Some(one.cents)
                && price.currency == crate::settings(cx).plans.currency
                && price.recurring.is_some() == one.is_monthly
        };
        if known.get(one.key).filter(same).is_some() {
            continue;
        }
        // We choose the id of the product, so that a second run finds it.
        let product = Request::post("products").with("id", one.key).with("name", &one.name);
        match stripe.send::<Value>(&product, None).await {
            Ok(_) => {}
            Err(failure) if failure.code.as_deref() == Some("resource_already_exists") => {}
            Err(failure) => return Err(stripe_error(&failure)),
        }
        let mut price = Request::post("prices")
            .with("product", one.key)
            .with("currency", &crate::settings(cx).plans.currency)
            .with("unit_amount", one.cents.to_string())
            .with("lookup_key", one.key)
            .with("transfer_lookup_key", "true");
        if one.is_monthly {
            price = price.with("recurring[interval]", "month");
        }
        stripe.send::<Price>(&price, None).await.map_err(|failure| stripe_error(&failure))?;
        made.push(one.key.to_owned());
    }
    super::change::configure_portal(cx).await?;
    Ok(made)
}

/// Returns the prices with these lookup keys.
pub(super) async fn prices(cx: &Domain, keys: &[&str]) -> Result<BTreeMap<String, Price>> {
    let stripe = &crate::settings(cx).require_billing()?.stripe;
    prices_at(stripe, keys).await.map_err(|failure| stripe_error(&failure))
}

/// Returns the lookup keys of what is sold and has no price at Stripe.
///
/// # Errors
/// Stripe's.
pub async fn missing_prices(stripe: &Stripe, plans: &Plans) -> Result<Vec<String>, Failure> {
    let sold = sold_products(plans);
    let keys: Vec<_> = sold.iter().map(|one| one.key).collect();
    let known = prices_at(stripe, &keys).await?;
    Ok(keys.into_iter().filter(|key| !known.contains_key(*key)).map(str::to_owned).collect())
}

async fn prices_at(stripe: &Stripe, keys: &[&str]) -> Result<BTreeMap<String, Price>, Failure> {
    let mut found = BTreeMap::new();
    // Stripe accepts ten lookup keys at once.
    for keys in keys.chunks(10) {
        let mut request = Request::get("prices").with("active", "true").with("limit", "100");
        for key in keys {
            request = request.with("lookup_keys[]", *key);
        }
        let list: List<Price> = stripe.read(&request).await?;
        found.extend(list.data.into_iter().filter_map(|price| {
            let key = price.lookup_key.clone()?;
            Some((key, price))
        }));
    }
    Ok(found)
}

/// Returns the ids of the prices with these lookup keys, in the same order. On the simulated account, missing prices
/// are created.
///
/// # Errors
/// An operator has not run `fanfare billing setup`, or Stripe's.
pub async fn lookup(cx: &Domain, keys: &[&str]) -> Result<Vec<String>> {
    let mut found = prices(cx, keys).await?;
    if keys.iter().any(|key| !found.contains_key(*key))
        && crate::settings(cx).require_billing()?.is_simulated
    {
        setup(cx).await?;
        found = prices(cx, keys).await?;
    }
    let id = |key: &&str| {
        let price = found.get(*key).map(|price| price.id.clone());
        price.ok_or_else(|| {
            misconfigured(format!(
                "The payment provider has no price {key}; `fanfare billing setup` makes it."
            ))
        })
    };
    keys.iter().map(id).collect()
}
