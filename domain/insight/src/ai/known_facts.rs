//! The facts that are known about a workspace, and that generated texts may therefore claim.

use fanfare_core::{Domain, error::Result};
use fanfare_entities::{
    BrandId, WorkspaceId, account, account::AccountStatus, brand, business_profile, workspace,
};
use fanfare_publishing::brands::voice;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::Value;

use super::fact_check::Facts;

/// The known facts about the workspace and the brand for which a text is written.
pub(crate) struct KnownFacts {
    /// The claims that are allowed, and the phrases that are forbidden.
    pub facts: Facts,
    /// The brand's voice as the model sees it, each part with its name.
    pub notes: Vec<(&'static str, String)>,
}

/// Reads the names of a workspace and its brand, the brand's voice, the names and usernames of the workspace's
/// accounts, and the phone numbers, websites, addresses and opening hours of its locations.
///
/// # Errors
/// The database's.
pub(crate) async fn read(
    cx: &Domain,
    workspace: WorkspaceId,
    brand: Option<BrandId>,
) -> Result<KnownFacts> {
    let (mut facts, mut notes, db) = (Facts::default(), Vec::new(), &cx.db.read);
    if let Some(row) = workspace::Entity::find_by_id(workspace).one(db).await? {
        facts.add(&row.name);
    }
    if let Some(id) = brand
        && let Some(row) = brand::Entity::find_by_id(id).one(db).await?
    {
        facts.add(&row.name);
        let voice = voice::read(db, id).await?;
        voice.claimable_facts().for_each(|proof| facts.add(proof));
        voice.never_say.iter().for_each(|phrase| facts.never_say(phrase));
        notes = voice.notes();
    }
    let accounts = account::Entity::find()
        .filter(account::Column::WorkspaceId.eq(workspace))
        .filter(account::Column::Status.ne(AccountStatus::Disconnected));
    for row in accounts.all(db).await? {
        facts.add_username(&row.username);
        facts.add(row.display_name.as_deref().unwrap_or_default());
    }
    let profiles = business_profile::Entity::find()
        .filter(business_profile::Column::WorkspaceId.eq(workspace))
        .filter(business_profile::Column::Location.is_not_null());
    for profile in profiles.all(db).await? {
        for fact in profile.location.iter().flat_map(location_facts) {
            facts.add(&fact);
        }
    }
    Ok(KnownFacts { facts, notes })
}

/// Appends notes to the brief for a model, one paragraph each.
pub(crate) fn append_notes(brief: &mut String, notes: &[(&'static str, String)]) {
    for (name, text) in notes {
        brief.push_str("\n\n");
        brief.push_str(name);
        brief.push_str(": ");
        brief.push_str(text);
    }
}

/// Returns the facts in a location's record.
pub(super) fn location_facts(record: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let list =
        |value: &Value| value.as_array().into_iter().flatten().filter_map(text).collect::<Vec<_>>();
    let (phones, address) = (&record["phoneNumbers"], &record["storefrontAddress"]);
    let mut facts: Vec<String> = [&record["title"], &record["websiteUri"], &phones["primaryPhone"]]
        .into_iter()
        .filter_map(text)
        .collect();
    facts.extend(list(&phones["additionalPhones"]));
    let mut lines = list(&address["addressLines"]);
    lines.extend([&address["postalCode"], &address["locality"]].into_iter().filter_map(text));
    facts.push(lines.join(" "));
    let periods = record["regularHours"]["periods"].as_array().into_iter().flatten();
    facts.extend(periods.filter_map(|period| {
        let day = period["openDay"].as_str()?.to_lowercase();
        let (from, to) = (clock(&period["openTime"]), clock(&period["closeTime"]));
        Some(format!("{day} {from} to {to}"))
    }));
    facts
}

/// Returns a time of day from Google's format, which leaves out zeros.
fn clock(time: &Value) -> String {
    let part = |name: &str| time[name].as_i64().unwrap_or(0);
    format!("{:02}:{:02}", part("hours"), part("minutes"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_location_says_of_itself_may_be_said() {
        let record = json!({
            "title": "Luna", "websiteUri": "https://cafe-luna.de/menu",
            "phoneNumbers": {"primaryPhone": "+49 30 5550100", "additionalPhones": ["+49 30 5550101"]},
            "storefrontAddress": {"addressLines": ["Kastanienallee 7"], "postalCode": "10435", "locality": "Berlin"},
            "regularHours": {"periods": [
                {"openDay": "MONDAY", "openTime": {"hours": 9}, "closeDay": "MONDAY", "closeTime": {"hours": 17, "minutes": 30}},
            ]},
        });
        let mut facts = Facts::default();
        for fact in location_facts(&record) {
            facts.add(&fact);
        }
        let said = "Call +49 30 5550101, see cafe-luna.de, come on Monday from 9:00 to 17:30 to Kastanienallee 7!";
        assert_eq!(facts.check(said), []);
        assert_eq!(facts.check("Open on Tuesday until 18:00, +49 30 5550199").len(), 3);
    }
}
