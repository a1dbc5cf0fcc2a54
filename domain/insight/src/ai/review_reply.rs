//! Suggests replies to reviews. They are suggestions: nothing is posted.

use fanfare_conversations::business;
use fanfare_core::{
    Act, Reply,
    error::{Error, Result, out_of_range},
    input::text::{self, TextRule},
};
use fanfare_entities::{account, business_profile, business_review};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    CheckedTexts, Purchase, TIMEOUT, Terms, TextSlot, WritingTask, known_facts,
    prices::{self, Priced},
    strangers,
    text::{DroppedText, SlotTexts},
    write_checked,
};

/// The most suggestions of a request.
const MAX_COUNT: i64 = 3;

/// The longest suggestion, in characters.
const MAX_CHARS: usize = 600;

/// The name of the slot that the model fills.
const SLOT: &str = "replies";

/// A request for answers to a review.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewReviewReplies {
    /// Id of the review, or its `review_name`.
    #[serde(deserialize_with = "business::text_or_number")]
    #[schemars(schema_with = "business::review_id")]
    pub review_id: String,
    /// The wanted tone.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub tone: Option<String>,
    /// The language to write in; that of the review if left out.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub language: Option<String>,
    /// The number of suggestions: 1 to 3, 1 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 3), extend("x-own-bounds" = true))]
    pub count: Option<i64>,
    /// Only say what it costs; nothing is made or spent.
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

/// A suggested answer.
#[derive(Debug, Serialize, JsonSchema)]
struct SuggestedReply {
    /// The text, up to 600 characters.
    text: String,
}

/// Suggested answers to a review.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SuggestedReplies {
    /// The answers that claim only what is known of the place, not what the review alone says; there may be fewer than
    /// requested.
    suggestions: Vec<SuggestedReply>,
    /// The flaws of the others; one entry a finding.
    dropped: Vec<DroppedText>,
    /// The price; nothing if none passed.
    credits_spent: i64,
    provider: String,
    model: String,
    /// True if the provider is simulated.
    sandbox: bool,
}

/// Suggests replies to a review. They claim only what is known about the location: a reviewer is no source of links,
/// numbers, prices and handles.
///
/// # Errors
/// The flaws of the request, [`ReviewNotFound`](fanfare_core::Code::ReviewNotFound), [`InsufficientCredits`](fanfare_core::Code::InsufficientCredits), or the provider's.
pub async fn suggest(act: &Act, new: NewReviewReplies) -> Result<Reply<Priced<SuggestedReplies>>> {
    let count = check(&new)?;
    let (review, account) = business::find_review(act, &new.review_id).await?;
    if crate::settings(&act.cx).ai.text.is_none() {
        return Err(super::not_configured("texts"));
    }
    if new.dry_run == Some(true) {
        return prices::check(act, crate::settings(&act.cx).ai.catalogue.reply).await;
    }
    let profile = business::profile_of(act, account.id).await?;
    let mut brief = brief(&new, &review, &account, profile.as_ref());
    let mut known = known_facts::read(&act.cx, account.workspace_id, account.brand_id).await?;
    // The requested tone replaces the brand's.
    known.notes.retain(|(name, _)| *name != "Tone" || new.tone.is_none());
    known_facts::append_notes(&mut brief, &known.notes);
    let mut facts = known.facts;
    facts.add_strangers_words(&review.text);
    // The work goes on if the caller disconnects: the reserved credits are settled or refunded.
    let act = act.clone();
    let terms = Terms { reference: new.reference, max_credits: new.max_credits };
    let work = tokio::spawn(async move {
        let slot = TextSlot {
            name: SLOT.to_owned(),
            count,
            limit: MAX_CHARS,
            length: Box::new(|text| text.chars().count()),
            max_bytes: None,
        };
        let (rules, slots) = (format!("{RULES}{}", strangers::RULE), vec![slot]);
        let task = WritingTask { rules, brief, slots, facts: &facts, timeout: TIMEOUT };
        generate_paid(&act, &task, &terms).await
    });
    work.await.map_err(Error::internal)?.map(Reply::cast)
}

const RULES: &str = "You answer reviews in the name of the reviewed place: politely, in two to four sentences, to what the review says. Use only \
     facts that the notes state. Never invent prices, discounts, dates, times, phone numbers, links or \
     handles, and promise nothing. Answer with JSON of the schema alone.";

fn check(new: &NewReviewReplies) -> Result<usize> {
    let count = new.count.unwrap_or(1);
    let mut broken = Vec::new();
    if !(1..=MAX_COUNT).contains(&count) {
        broken.push(out_of_range("count", count, &(1..=MAX_COUNT)));
    }
    for (field, value) in [("tone", &new.tone), ("language", &new.language)] {
        broken.extend(
            value
                .iter()
                .filter_map(|text| text::problem(field, text, TextRule::line(text::DEFAULT_MAX))),
        );
    }
    Error::check(broken)?;
    Ok(usize::try_from(count).unwrap_or(1))
}

fn brief(
    new: &NewReviewReplies,
    review: &business_review::Model,
    account: &account::Model,
    profile: Option<&business_profile::Model>,
) -> String {
    let said = if review.text.trim().is_empty() { "A review without text" } else { &review.text };
    let mut brief = strangers::marked(said);
    let mut note = |name: &str, value: &str| brief.push_str(&format!("\n\n{name}: {value}"));
    note("Reviewed place", &business::title(profile, account));
    if let Some(stars) = review.rating {
        note("Stars of 5", &stars.to_string());
    }
    if let Some(name) = &review.reviewer {
        note("Reviewer", &strangers::marked(name));
    }
    if let Some(tone) = &new.tone {
        note("Tone", tone);
    }
    note("Language", new.language.as_deref().unwrap_or("that of the review"));
    let record = profile.and_then(|profile| profile.location.as_ref());
    for fact in record.map(known_facts::location_facts).unwrap_or_default() {
        note("Fact", &fact);
    }
    brief
}

async fn generate_paid(
    act: &Act,
    task: &WritingTask<'_>,
    terms: &Terms,
) -> Result<Reply<SuggestedReplies>> {
    let cx = &act.cx;
    let price = crate::settings(cx).ai.catalogue.reply;
    let purchase = Purchase::begin(act, "review_reply", price, terms).await?;
    let written = match write_checked(cx, task).await {
        Ok(written) => written,
        Err(error) => return Err(purchase.fail(cx, error).await),
    };
    let is_useful = written.slots.iter().any(|slot| !slot.variants.is_empty());
    let tx = act.begin().await?;
    let spent = purchase.end(cx, tx.conn(), is_useful).await?;
    act.finish(tx, Reply::ok(&to_reply(written, spent))).await
}

fn to_reply(written: CheckedTexts, credits_spent: i64) -> SuggestedReplies {
    let (mut suggestions, mut dropped) = (Vec::new(), Vec::new());
    for SlotTexts { variants, dropped: findings, .. } in written.slots {
        suggestions.extend(variants.into_iter().map(|one| SuggestedReply { text: one.text }));
        dropped.extend(findings);
    }
    SuggestedReplies {
        suggestions,
        dropped,
        credits_spent,
        provider: written.provider,
        model: written.model,
        sandbox: written.sandbox,
    }
}
