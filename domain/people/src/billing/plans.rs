//! Plans and packs, as data.

use fanfare_core::access::{PlanTier, plan_name};
use serde::Deserialize;

/// The default plans.
static DEFAULT_PLANS: &str = include_str!("plans.json");

/// The plans and packs that are sold.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plans {
    /// The currency of all prices.
    pub currency: String,
    /// The API add-on.
    pub api_addon: Addon,
    /// The plans, from the smallest.
    pub plans: Vec<Plan>,
    /// The packs of credits.
    pub packs: Vec<Pack>,
}

/// An extra that a plan may have.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Addon {
    /// The price of a month, in the currency's smallest unit.
    pub price: i64,
    /// The lookup key of the price at Stripe.
    pub lookup_key: String,
}

/// A plan.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The tier: `starter`, `pro`, `power_user` or `agency`.
    pub tier: String,
    /// The price of a month, in the currency's smallest unit.
    pub price: i64,
    /// The lookup key of the price at Stripe.
    pub lookup_key: String,
    /// The number of API keys that a user may have.
    pub keys: u32,
    /// Credits for each month.
    pub credits: u32,
    /// Accounts of a workspace.
    pub accounts: u32,
    /// Members of a workspace.
    pub members: u32,
    /// Brands of a workspace.
    pub brands: u32,
    /// Team workspaces of a user.
    pub team_workspaces: u32,
    /// Targets of a post set; 50 if left out.
    #[serde(default = "most_targets")]
    pub targets: u32,
}

/// The most targets that a set can have.
const fn most_targets() -> u32 {
    50
}

/// A pack of credits, bought once.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pack {
    /// The number of credits.
    pub credits: u32,
    /// The price in the currency's smallest unit.
    pub price: i64,
    /// The lookup key of the price at Stripe.
    pub lookup_key: String,
}

/// Why plans cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlansError {
    /// The JSON has the wrong structure.
    #[error("the plans are not valid JSON of the documented form: {0}")]
    Json(#[from] serde_json::Error),
    /// A tier is missing or appears twice.
    #[error(
        "the plans must name each of starter, pro, power_user and agency once, from the smallest"
    )]
    Tiers,
}

impl Plans {
    /// Reads plans from JSON.
    ///
    /// # Errors
    /// The text does not describe usable plans; the error says why.
    pub fn parse(text: &str) -> Result<Self, PlansError> {
        let plans: Self = serde_json::from_str(text)?;
        let tiers: Vec<_> = plans.plans.iter().map(|plan| plan.tier.as_str()).collect();
        if tiers != TIERS.map(plan_name) {
            return Err(PlansError::Tiers);
        }
        Ok(plans)
    }

    /// Returns the default plans.
    ///
    /// # Errors
    /// None in practice: a test parses them.
    pub fn built_in() -> Result<Self, PlansError> {
        Self::parse(DEFAULT_PLANS)
    }

    /// Returns the plan of a tier.
    #[must_use]
    pub fn plan(&self, tier: PlanTier) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.tier == plan_name(tier))
    }

    /// Returns the lookup keys, at Stripe, of a plan with or without the add-on.
    #[must_use]
    pub fn lookup_keys(&self, tier: PlanTier, api_addon: bool) -> Vec<&str> {
        let plan = self.plan(tier);
        let addon = api_addon.then_some(self.api_addon.lookup_key.as_str());
        plan.map(|plan| plan.lookup_key.as_str()).into_iter().chain(addon).collect()
    }

    /// Returns the price of a month, in the currency's smallest unit.
    #[must_use]
    pub fn price_of(&self, tier: PlanTier, api_addon: bool) -> i64 {
        let plan = self.plan(tier);
        let addon = if api_addon { self.api_addon.price } else { 0 };
        plan.map_or(0, |plan| plan.price) + addon
    }

    /// Returns the credits that a plan includes each month.
    #[must_use]
    pub fn credits_of(&self, tier: PlanTier) -> i64 {
        let plan = self.plan(tier);
        plan.map_or(0, |plan| plan.credits.into())
    }

    /// Returns all lookup keys of what is paid every month.
    pub fn monthly_keys(&self) -> impl Iterator<Item = &str> {
        let plans = self.plans.iter().map(|plan| plan.lookup_key.as_str());
        plans.chain([self.api_addon.lookup_key.as_str()])
    }

    /// Returns the tier that is sold under this lookup key.
    #[must_use]
    pub fn tier_of(&self, lookup_key: &str) -> Option<PlanTier> {
        let plan = self.plans.iter().find(|plan| plan.lookup_key == lookup_key)?;
        TIERS.into_iter().find(|tier| plan_name(*tier) == plan.tier)
    }
}

/// All tiers, from the smallest.
const TIERS: [PlanTier; 4] =
    [PlanTier::Starter, PlanTier::Pro, PlanTier::PowerUser, PlanTier::Agency];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_plans_are_read_and_others_must_name_every_tier() {
        let plans = Plans::built_in().unwrap();
        assert_eq!(plans.price_of(PlanTier::Pro, true), 6_800);
        assert_eq!(plans.lookup_keys(PlanTier::Starter, false), ["fanfare_starter_month"]);
        assert_eq!(plans.tier_of("fanfare_agency_month"), Some(PlanTier::Agency));
        assert_eq!(plans.tier_of("fanfare_credits_500"), None);
        assert!(Plans::parse(&DEFAULT_PLANS.replace("\"pro\"", "\"starter\"")).is_err());
        assert!(Plans::parse("{}").is_err());
    }
}
