//! Generates captions for networks. They are suggestions: no post is made.

use fanfare_core::{
    Act, BrandId, Reply,
    error::{Code, Error, Result, Violation, out_of_range, violation, wrong_count},
    input::text::{self, TextRule},
};
use fanfare_entities::AccountId;
use fanfare_platforms::{self as platforms, CaptionLimits, PlatformId};
use fanfare_publishing::{accounts, brands};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    CheckedTexts, Purchase, SlotTexts, TIMEOUT, TextSlot, WritingTask,
    known_facts::{self, KnownFacts},
    prices::{self, Priced},
    text::{DroppedText, TextVariant},
    write_checked,
};

/// The most captions for a network.
const MAX_COUNT: i64 = 5;

/// A request for captions.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCaptions {
    /// The subject of the post, with every fact that captions may use.
    #[schemars(length(min = 1, max = 4_000))]
    pub brief: String,
    /// The networks; or `account_ids`.
    #[serde(default)]
    #[schemars(length(max = 18), inner(length(max = 50)))]
    pub platforms: Option<Vec<String>>,
    /// Accounts whose networks to write for, instead of `platforms`.
    #[serde(default)]
    #[schemars(length(max = 18))]
    pub account_ids: Option<Vec<i64>>,
    /// The number for each network: 1 to 5, 3 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5), extend("x-own-bounds" = true))]
    pub count: Option<i64>,
    /// The wanted tone.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub tone: Option<String>,
    /// The language to write in; that of the brief if left out.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub language: Option<String>,
    /// The brand for which captions are written: they sound like it, may use its facts, and never say what it never says. If
    /// left out it is the brand that all accounts of `account_ids` are in.
    #[serde(default)]
    pub workspace_client_id: Option<Uuid>,
    /// More facts that captions may use.
    #[serde(default)]
    #[schemars(length(max = 50), inner(length(max = 300)))]
    pub facts: Option<Vec<String>>,
    /// Phrases that captions must not use.
    #[serde(default)]
    #[schemars(length(max = 50), inner(length(max = 300)))]
    pub never_say: Option<Vec<String>>,
    /// With hashtags, or without.
    #[serde(default)]
    pub hashtags: Option<bool>,
    /// Only say what it costs.
    #[serde(default)]
    pub dry_run: Option<bool>,
    /// A text by which you know this, such as the id of your customer. The ledger names it, and sums are made by it.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub reference: Option<String>,
    /// The most that it may cost, in credits. If it costs more, nothing is made or spent.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub max_credits: Option<i64>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Leaves the brief out.
impl std::fmt::Debug for NewCaptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewCaptions").field("platforms", &self.platforms).finish_non_exhaustive()
    }
}

/// Captions for one network.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct PlatformCaptions {
    #[schemars(with = "String")]
    pub platform: String,
    /// The captions whose claims are all in the facts; there may be fewer than requested.
    pub variants: Vec<TextVariant>,
    /// The number that was requested: each is among the variants, or has a reason in `dropped`.
    pub requested: usize,
    /// The flaws of the others; one entry a finding.
    pub dropped: Vec<DroppedText>,
}

/// Captions.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Captions {
    pub captions: Vec<PlatformCaptions>,
    /// True if texts with findings were written once again.
    pub rewritten: bool,
    /// The price; nothing if none passed.
    pub credits_spent: i64,
    pub provider: String,
    pub model: String,
    /// True if the provider is simulated.
    pub sandbox: bool,
}

/// Writes captions.
///
/// # Errors
/// The flaws of the request, [`Code::InsufficientCredits`], or the provider's.
pub async fn generate(act: &Act, new: NewCaptions) -> Result<Reply<Priced<Captions>>> {
    let wanted = requested_slots(act, &new).await?;
    if crate::settings(&act.cx).ai.text.is_none() {
        return Err(super::not_configured("texts"));
    }
    let known = collect_facts(act, &new).await?;
    if new.dry_run == Some(true) {
        return prices::check(act, crate::settings(&act.cx).ai.catalogue.captions).await;
    }
    // The work goes on if the caller disconnects: the reserved credits are settled or refunded.
    let act = act.clone();
    let work = tokio::spawn(async move { generate_paid(&act, &new, wanted, &known).await });
    work.await.map_err(Error::internal)?.map(Reply::cast)
}

async fn generate_paid(
    act: &Act,
    new: &NewCaptions,
    slots: Vec<TextSlot>,
    known: &KnownFacts,
) -> Result<Reply<Captions>> {
    let cx = &act.cx;
    let price = crate::settings(cx).ai.catalogue.captions;
    let terms = super::Terms { reference: new.reference.clone(), max_credits: new.max_credits };
    let purchase = Purchase::begin(act, "captions", price, &terms).await?;
    let (rules, brief) = (rules(new), brief(new, &known.notes));
    let task = WritingTask { rules, brief, slots, facts: &known.facts, timeout: TIMEOUT };
    let written = match write_checked(cx, &task).await {
        Ok(written) => written,
        Err(error) => return Err(purchase.fail(cx, error).await),
    };
    let tx = act.begin().await?;
    let is_useful = written.slots.iter().any(|slot| !slot.variants.is_empty());
    let spent = purchase.end(cx, tx.conn(), is_useful).await?;
    act.finish(tx, Reply::ok(&to_reply(written, spent))).await
}

fn to_reply(written: CheckedTexts, credits_spent: i64) -> Captions {
    let of_slot = |slot: SlotTexts| PlatformCaptions {
        platform: slot.name,
        variants: slot.variants,
        requested: slot.requested,
        dropped: slot.dropped,
    };
    Captions {
        captions: written.slots.into_iter().map(of_slot).collect(),
        rewritten: written.rewritten,
        credits_spent,
        provider: written.provider,
        model: written.model,
        sandbox: written.sandbox,
    }
}

/// Checks the request, and returns the networks to write for.
async fn requested_slots(act: &Act, new: &NewCaptions) -> Result<Vec<TextSlot>> {
    let mut broken = violations(new);
    let count = new.count.unwrap_or(3);
    if !(1..=MAX_COUNT).contains(&count) {
        broken.push(out_of_range("count", count, &(1..=MAX_COUNT)));
    }
    // In the order asked for; of two accounts on one network the stricter limit counts.
    let mut limits: Vec<(PlatformId, CaptionLimits)> = Vec::new();
    let mut note = |id: PlatformId, caption: CaptionLimits| match limits
        .iter_mut()
        .find(|(known, _)| *known == id)
    {
        Some((_, known)) if caption.max < known.max => *known = caption,
        Some(_) => {}
        None => limits.push((id, caption)),
    };
    match (&new.platforms, &new.account_ids) {
        (Some(names), None) if !names.is_empty() => {
            for (place, name) in names.iter().enumerate() {
                let field = format!("platforms[{place}]");
                let known = platforms::all().iter().find(|one| one.spec().id.as_str() == name);
                match known {
                    Some(_) if names[..place].contains(name) => {
                        let message = format!("{field} is there twice.");
                        let remedy = "Name each network once.";
                        broken.push(violation(Code::InvalidField, field, message, remedy));
                    }
                    Some(platform) => note(platform.spec().id, platform.spec().caption),
                    None => {
                        let message = format!("{field} is not a network.");
                        let remedy = "Send names that GET /api/v1/platforms lists.";
                        broken.push(violation(Code::InvalidField, field, message, remedy));
                    }
                }
            }
        }
        (None, Some(ids)) if !ids.is_empty() => {
            for (place, id) in ids.iter().enumerate() {
                match accounts::caption_rules(act, AccountId(*id)).await {
                    Ok((platform, caption)) => note(platform, caption),
                    Err(error) if error.code() == Code::AccountNotFound => {
                        let field = format!("account_ids[{place}]");
                        let message = format!("There is no account {id}.");
                        let remedy = "Send ids that GET /api/v1/accounts lists.";
                        broken.push(violation(Code::AccountNotFound, field, message, remedy));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        _ => {
            let message = "Either platforms or account_ids must name at least one network.";
            let remedy = "Send one of the two.";
            broken.push(violation(Code::InvalidField, "platforms", message, remedy));
        }
    }
    Error::check(broken)?;
    let count = usize::try_from(count).unwrap_or(1);
    let slot = |(id, caption): (PlatformId, CaptionLimits)| TextSlot {
        name: id.as_str().to_owned(),
        count,
        limit: caption.max,
        length: Box::new(caption.count),
        max_bytes: caption.max_bytes,
    };
    Ok(limits.into_iter().map(slot).collect())
}

fn violations(new: &NewCaptions) -> Vec<Violation> {
    let mut broken: Vec<Violation> = Vec::new();
    if new.brief.trim().is_empty() {
        let message = "brief is empty.";
        broken.push(violation(Code::InvalidField, "brief", message, "Say what the post is about."));
    }
    broken.extend(text::problem("brief", &new.brief, TextRule::lines(4_000)));
    for (field, value) in [("tone", &new.tone), ("language", &new.language)] {
        broken.extend(
            value
                .iter()
                .filter_map(|text| text::problem(field, text, TextRule::line(text::DEFAULT_MAX))),
        );
    }
    for (name, list) in [("facts", &new.facts), ("never_say", &new.never_say)] {
        let list = list.as_deref().unwrap_or_default();
        if list.len() > 50 {
            broken.push(wrong_count(name, list.len(), &(0..=50)));
        }
        broken.extend(list.iter().take(50).enumerate().filter_map(|(place, text)| {
            text::problem(&format!("{name}[{place}]"), text, TextRule::lines(300))
        }));
    }
    broken
}

/// Returns everything that captions may claim: the facts in the request, and those known about workspace, brand,
/// accounts and locations.
async fn collect_facts(act: &Act, new: &NewCaptions) -> Result<KnownFacts> {
    let brand = match (new.workspace_client_id, &new.account_ids) {
        (Some(id), _) => Some(brands::find(act, BrandId(id)).await?.id),
        (None, Some(ids)) => accounts::brand_of_all(act, ids).await?,
        (None, None) => None,
    };
    let mut known = known_facts::read(&act.cx, act.membership.workspace_id, brand).await?;
    let facts = &mut known.facts;
    facts.add(&new.brief);
    for fact in new.facts.iter().flatten() {
        facts.add(fact);
    }
    for phrase in new.never_say.iter().flatten() {
        facts.never_say(phrase);
    }
    // The requested tone replaces the brand's.
    known.notes.retain(|(name, _)| *name != "Tone" || new.tone.is_none());
    Ok(known)
}

fn rules(new: &NewCaptions) -> String {
    let hashtags = match new.hashtags {
        Some(true) => " Add two or three fitting hashtags.",
        Some(false) => " Use no hashtags.",
        None => "",
    };
    format!(
        "You write captions for posts on social networks, in the voice of the brand if it is given. Use only facts that the brief states. \
         Never invent prices, discounts, dates, times, phone numbers, links or handles. Keep within the length of each network; every caption differs from the others.{hashtags} \
         Answer with JSON of the schema alone."
    )
}

fn brief(new: &NewCaptions, notes: &[(&'static str, String)]) -> String {
    let mut brief = new.brief.clone();
    let mut add = |name: &str, value: &str| brief.push_str(&format!("\n\n{name}: {value}"));
    if let Some(tone) = &new.tone {
        add("Tone", tone);
    }
    if let Some(language) = &new.language {
        add("Language", language);
    }
    for fact in new.facts.iter().flatten() {
        add("Fact", fact);
    }
    for phrase in new.never_say.iter().flatten() {
        add("Never say", phrase);
    }
    known_facts::append_notes(&mut brief, notes);
    brief
}
