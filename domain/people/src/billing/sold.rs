//! Which of our plans the items of a subscription at Stripe are.
//!
//! Stripe's account belongs to its operator: prices may have been made by hand, under products with ids of Stripe's
//! choice. A price is known by its lookup key. One that is no longer sold has lost its key, but its product still has
//! a price with one.

use std::collections::BTreeMap;

use fanfare_core::{Domain, access::PlanTier, error::Result};
use fanfare_entities::billing_subscription;
use fanfare_payments::{Price, Subscription};

use super::{Plans, setup::prices};

/// A plan as it is sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoldPlan {
    /// The tier.
    pub tier: PlanTier,
    /// True with the API add-on.
    pub api_addon: bool,
}

impl From<&billing_subscription::Model> for SoldPlan {
    fn from(row: &billing_subscription::Model) -> Self {
        Self { tier: row.plan_tier, api_addon: row.api_addon }
    }
}

/// The products of the prices that are sold now, with our names for them.
#[derive(Debug, Default)]
pub(super) struct Products(BTreeMap<String, String>);

impl Products {
    /// Reads the products, if one of these prices is not known without them.
    ///
    /// # Errors
    /// [`fanfare_core::Code::Unavailable`] if Stripe does not answer.
    pub async fn of(cx: &Domain, wanted: impl Iterator<Item = &Price> + Send) -> Result<Self> {
        let plans = &crate::settings(cx).plans;
        let unknown: Vec<&Price> =
            wanted.filter(|price| own_name(plans, price).is_none()).collect();
        if unknown.is_empty() {
            return Ok(Self::default());
        }
        let sold = prices(cx, &plans.monthly_keys().collect::<Vec<_>>()).await?;
        Ok(Self(sold.into_iter().map(|(key, price)| (price.product, key)).collect()))
    }

    /// Returns our name of what a price sells.
    pub fn name<'a>(&'a self, plans: &'a Plans, price: &'a Price) -> Option<&'a str> {
        own_name(plans, price).or_else(|| self.0.get(&price.product).map(String::as_str))
    }
}

/// Returns our name of what a price sells, if the price itself says so.
fn own_name<'a>(plans: &Plans, price: &'a Price) -> Option<&'a str> {
    [price.lookup_key.as_deref(), Some(price.product.as_str())]
        .into_iter()
        .flatten()
        .find(|name| plans.monthly_keys().any(|key| key == *name))
}

/// Returns the plan of a subscription. If none of its items is sold here, that is `bought`: what was paid for is given,
/// and the operator is notified.
///
/// # Errors
/// [`fanfare_core::Code::Unavailable`] if Stripe does not answer.
pub(crate) async fn plan_of(
    cx: &Domain,
    theirs: &Subscription,
    bought: SoldPlan,
) -> Result<SoldPlan> {
    let plans = &crate::settings(cx).plans;
    let items = || theirs.items.data.iter().map(|item| &item.price);
    let products = Products::of(cx, items()).await?;
    let names = || items().filter_map(|price| products.name(plans, price));
    let Some(tier) = names().find_map(|name| plans.tier_of(name)) else {
        tracing::error!(
            subscription = theirs.id,
            "a subscription at Stripe has no price that is sold here; it keeps the plan that was bought"
        );
        return Ok(bought);
    };
    Ok(SoldPlan { tier, api_addon: names().any(|name| name == plans.api_addon.lookup_key) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(lookup_key: Option<&str>, product: &str) -> Price {
        Price {
            id: "price_1".to_owned(),
            lookup_key: lookup_key.map(str::to_owned),
            product: product.to_owned(),
            unit_amount: Some(1),
            currency: "usd".to_owned(),
            recurring: None,
        }
    }

    #[test]
    fn a_price_is_known_by_its_key_its_product_or_the_key_of_its_products_new_price() {
        let plans = Plans::built_in().unwrap();
        let sold =
            Products(BTreeMap::from([("prod_9".to_owned(), "fanfare_pro_month".to_owned())]));
        for (price, name) in [
            (price(Some("fanfare_pro_month"), "prod_1"), Some("fanfare_pro_month")),
            (price(None, "fanfare_agency_month"), Some("fanfare_agency_month")),
            (price(Some("theirs"), "fanfare_agency_month"), Some("fanfare_agency_month")),
            (price(None, "prod_9"), Some("fanfare_pro_month")),
            (price(Some("theirs"), "prod_1"), None),
            (price(Some("fanfare_credits_500"), "prod_1"), None),
        ] {
            assert_eq!(sold.name(&plans, &price), name, "{price:?}");
        }
    }
}
