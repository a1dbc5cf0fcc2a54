//! Captions, images and videos made by models, beside the composer. Each button shows the price.

use fanfare_core::{Result, access::Role};
use fanfare_entities::ai_job::AiJobStatus;
use fanfare_insight::ai::{
    captions::Captions,
    image::GeneratedImages,
    prices::Priced,
    video::{self, ModelOptions, QueuedVideoJob, VideoEstimate, VideoJob, VideoJobQuery},
};
use fanfare_publishing::platforms::label;
use maud::{Markup, html};
use serde_json::json;

use super::{StepOutcome, draft::Draft, files::File};
use crate::{
    dashboard::{
        operation,
        page_member::PageMember,
        parts::{badge, name_of, one_line},
    },
    oauth_connect::{PageResponse, Visit},
};

/// A caption that a model wrote.
pub struct Caption {
    network: String,
    text: String,
    length: usize,
    limit: usize,
}

/// Generates captions for the chosen accounts.
///
/// # Errors
/// The operation's.
pub async fn captions(
    visit: &Visit,
    seat: &PageMember,
    draft: &Draft,
    outcome: &mut StepOutcome,
) -> Result<Option<PageResponse>> {
    let mut asked = json!({
        "brief": draft.field("brief").unwrap_or_default(),
        "account_ids": draft.accounts,
        "workspace_id": seat.act.membership.workspace_id,
    });
    if let Some(tone) = draft.field("tone") {
        asked["tone"] = tone.into();
    }
    let written: Priced<Captions> = operation::read(visit, "generate_captions", asked).await?;
    let written = written.made()?;
    for of in written.captions {
        let network = label(&of.platform).to_owned();
        outcome.captions.extend(of.variants.into_iter().map(|variant| Caption {
            network: network.clone(),
            text: variant.text,
            length: variant.length,
            limit: variant.limit,
        }));
    }
    outcome.done = Some(if outcome.captions.is_empty() {
        "No caption passed the check of its facts, so nothing was charged. Put more facts into the brief.".to_owned()
    } else {
        spent("Captions were written", written.credits_spent)
    });
    Ok(None)
}

fn spent(what: &str, credits: i64) -> String {
    format!("{what} for {}.", price(credits))
}

fn price(credits: i64) -> String {
    format!("{credits} {}", if credits == 1 { "credit" } else { "credits" })
}

/// Generates images and adds them to the post's files.
///
/// # Errors
/// The operation's.
pub async fn image(
    visit: &Visit,
    seat: &PageMember,
    draft: &mut Draft,
    outcome: &mut StepOutcome,
) -> Result<Option<PageResponse>> {
    let count = draft.field("count").and_then(|count| count.parse::<i64>().ok()).unwrap_or(1);
    let mut asked = json!({
        "prompt": draft.field("image_prompt").unwrap_or_default(),
        "count": count,
        "workspace_id": seat.act.membership.workspace_id,
    });
    if let Some((provider, _)) = drawing(seat) {
        asked["provider"] = provider.into();
    }
    let drawn: Priced<GeneratedImages> = operation::read(visit, "generate_image", asked).await?;
    let drawn = drawn.made()?;
    let drawn_files = drawn.media_urls.into_iter().map(|url| File { url, alt: String::new() });
    draft.media.extend(drawn_files);
    outcome.done = Some(spent("Images were drawn and added to the files", drawn.credits_spent));
    Ok(None)
}

/// Queues a video job.
///
/// # Errors
/// The operation's.
pub async fn video(
    visit: &Visit,
    seat: &PageMember,
    draft: &Draft,
    outcome: &mut StepOutcome,
) -> Result<Option<PageResponse>> {
    let kind = draft.field("film").unwrap_or_default();
    let (seconds, resolution) = kind.split_once(' ').unwrap_or(("8", "720p"));
    let mut asked = json!({
        "prompt": draft.field("video_prompt").unwrap_or_default(),
        "duration_seconds": seconds.parse::<i64>().unwrap_or(8),
        "resolution": resolution,
        "workspace_id": seat.act.membership.workspace_id,
    });
    if let Some(ratio) = draft.field("ratio") {
        asked["aspect_ratio"] = ratio.into();
    }
    let queued: Priced<QueuedVideoJob> = operation::read(visit, "generate_video", asked).await?;
    outcome.done = Some(spent("A video was ordered", queued.made()?.job.credits));
    Ok(None)
}

/// Cancels a video job.
///
/// # Errors
/// The operation's.
pub async fn cancel(
    visit: &Visit,
    job: &str,
    outcome: &mut StepOutcome,
) -> Result<Option<PageResponse>> {
    operation::run(visit, "cancel_video_job", json!({ "id": job })).await?;
    outcome.done = Some("The video was cancelled, and its credits were given back.".to_owned());
    Ok(None)
}

/// Returns the provider of images and its price for one.
fn drawing(seat: &PageMember) -> Option<(&'static str, i64)> {
    let ai = &fanfare_insight::settings(&seat.act.cx).ai;
    let cents = |provider: &str, kind: &str| {
        let model = ai.catalogue.image.iter().find(|model| model.provider == provider)?;
        model.credits.get(kind).copied()
    };
    if ai.google.is_some() {
        return Some(("google", cents("google", "1K")?));
    }
    ai.xai.as_ref()?;
    Some(("xai", cents("xai", "medium 1K")?))
}

/// Renders the panel with everything that models can do for the post.
///
/// # Errors
/// The database's.
pub async fn panel(seat: &PageMember, draft: &Draft, outcome: &StepOutcome) -> Result<Markup> {
    let ai = &fanfare_insight::settings(&seat.act.cx).ai;
    let has_films = ai.xai.is_some() || ai.google.is_some() || ai.vertex.is_some();
    if !seat.may(Role::Editor) || (ai.text.is_none() && !has_films) {
        return Ok(html! {});
    }
    let films = films(seat).await?;
    Ok(html! {
        section.card aria-labelledby="ai" {
            h2 #ai { "Ideas from models" }
            @if ai.is_sandbox { p { span.badge.warn { "simulated" } } }
            @if ai.text.is_some() { (caption_fields(draft, ai.credits(ai.catalogue.captions), &outcome.captions)) }
            @if let Some((_, cents)) = drawing(seat) { (image_fields(draft, |count| ai.credits(count * cents))) }
            @if let Some(model) = &films { (film_fields(draft, model)) }
            @if films.is_some() {
                h3 { "Videos" }
                div #jobs data-live="/dashboard/jobs" { (jobs(seat, &draft.media).await?) }
            }
        }
    })
}

fn caption_fields(draft: &Draft, credits: i64, written: &[Caption]) -> Markup {
    html! {
        div.field {
            label for="brief" { "What is the post about?" }
            textarea #brief name="brief" rows="3" maxlength="4000" aria-describedby="brief-hint" { "\n" (draft.field("brief").unwrap_or_default()) }
            p.soft.hint #brief-hint { "Captions claim nothing that is not here: give prices, dates and addresses." }
        }
        div.field {
            label for="tone" { "Tone (optional)" }
            input #tone name="tone" maxlength="200" value=[draft.field("tone")] autocomplete="off";
        }
        button type="submit" name="do" value="captions" { "Write captions (" (price(credits)) ")" }
        @if !written.is_empty() {
            ul.variants {
                @for one in written {
                    li {
                        p.words { (one.text) }
                        div.row {
                            button.quiet type="submit" name="use" value=(one.text) { "Use this text" }
                            span.soft { (one.network) ": " (one.length) " of " (one.limit) }
                        }
                    }
                }
            }
        }
    }
}

fn image_fields(draft: &Draft, cost: impl Fn(i64) -> i64) -> Markup {
    let chosen = draft.field("count").unwrap_or("1");
    html! {
        div.field {
            label for="image_prompt" { "What should an image show?" }
            input #image_prompt name="image_prompt" maxlength="4000" value=[draft.field("image_prompt")] autocomplete="off";
        }
        div.field {
            label for="count" { "Images" }
            select #count name="count" {
                @for count in 1..=4_i64 {
                    option value=(count) selected[count.to_string() == chosen] { (count) " for " (price(cost(count))) }
                }
            }
        }
        button type="submit" name="do" value="image" { "Draw" }
    }
}

/// Returns the default video model.
async fn films(seat: &PageMember) -> Result<Option<ModelOptions>> {
    let options = video::options(&seat.act).await?.view()?;
    let provider = options.providers.into_iter().find(|one| one.configured && !one.id.is_empty());
    Ok(provider.and_then(|one| one.models.into_iter().find(|model| model.default)))
}

fn film_fields(draft: &Draft, model: &ModelOptions) -> Markup {
    let kind = |one: &VideoEstimate| format!("{} {}", one.duration_seconds, one.resolution);
    let chosen = draft.field("film").unwrap_or("8 720p");
    html! {
        div.field {
            label for="video_prompt" { "What should a video show?" }
            input #video_prompt name="video_prompt" maxlength="4096" value=[draft.field("video_prompt")] autocomplete="off";
        }
        div.field {
            label for="film" { "Length" }
            select #film name="film" {
                @for one in &model.estimates {
                    option value=(kind(one)) selected[kind(one) == chosen] {
                        (one.duration_seconds) " s, " (one.resolution) " for " (price(one.credits))
                    }
                }
            }
        }
        div.field {
            label for="ratio" { "Shape" }
            select #ratio name="ratio" {
                @for ratio in &model.aspect_ratios {
                    option value=(ratio) selected[draft.field("ratio").unwrap_or("16:9") == ratio] { (ratio) }
                }
            }
        }
        button type="submit" name="do" value="video" { "Make a video" }
    }
}

/// Renders a line for each of the latest video jobs.
///
/// # Errors
/// The database's.
pub async fn jobs(seat: &PageMember, chosen: &[File]) -> Result<Markup> {
    let query = VideoJobQuery { limit: Some(5), ..VideoJobQuery::default() };
    let list = video::list(&seat.act, query).await?.view()?.into_list();
    let is_open =
        |job: &VideoJob| matches!(job.status, AiJobStatus::Queued | AiJobStatus::Processing);
    Ok(html! {
        @if list.jobs.is_empty() { p.soft { "None was asked for yet." } }
        ul.jobs data-open=[list.jobs.iter().any(is_open).then_some("")] {
            @for job in &list.jobs {
                li {
                    span { (badge(&name_of(job.status))) " " (one_line(&job.prompt, 60)) }
                    span.soft {
                        (price(job.credits))
                        @if let Some(percent) = job.progress.filter(|_| is_open(job)) { " · " (percent) " %" }
                    }
                    @if let Some(error) = &job.error { span.soft { (one_line(&error.message, 200)) } }
                    @if let Some(url) = job.video_url.as_ref().filter(|url| !chosen.iter().any(|file| file.url == **url)) {
                        button.quiet type="submit" name="add" value=(url) { "Use it" }
                    }
                    @if job.status == AiJobStatus::Queued {
                        button.quiet type="submit" name="cancel" value=(job.id) { "Cancel" }
                    }
                }
            }
        }
    })
}
