//! Photos that go out without a post: converted into a form that the network takes, like the files of posts.

use fanfare_core::{Code, Domain, error::Result};
use fanfare_entities::WorkspaceId;
use fanfare_platforms::{self as platforms, MediaRules};
use serde_json::{Value, json};

use super::{
    draft, media, media_facts,
    readiness::{VariantState, substitute_variant},
    view::PostMedia,
};

/// The result of the check of a photo.
#[derive(Debug)]
pub enum Fit {
    /// It goes out as it is.
    AsIs,
    /// This converted file goes out in its place.
    Converted(Box<PostMedia>),
    /// It is being analysed or converted.
    Pending,
    /// It cannot be used: `{code, message, remedy}`.
    Broken(Value),
}

/// A stored file, as far as it is known.
#[derive(Debug)]
pub enum AnalysedFile {
    /// It is not stored, or not here.
    Gone,
    /// It is being analysed.
    Pending,
    /// Its analysis has ended.
    Known(Box<PostMedia>),
}

/// Returns the file at an address with the result of its analysis.
///
/// # Errors
/// The database's.
pub async fn analysed_file(cx: &Domain, workspace: WorkspaceId, url: &str) -> Result<AnalysedFile> {
    let Some(asset) = media::find_stored(cx, workspace, url).await? else {
        return Ok(AnalysedFile::Gone);
    };
    let mut files = [media::of_asset(cx, &asset)];
    if !media_facts::refresh(&cx.db.read, &mut files).await?.is_empty() {
        return Ok(AnalysedFile::Pending);
    }
    let [file] = files;
    Ok(AnalysedFile::Known(Box::new(file)))
}

/// Returns whether a network takes a stored photo, or what goes out in its place. Starts the conversion that it needs.
///
/// # Errors
/// The database's.
pub async fn fit_photo(
    cx: &Domain,
    workspace: WorkspaceId,
    url: &str,
    rules: &MediaRules,
) -> Result<Fit> {
    // The network itself refuses a file that is no longer stored.
    let mut file = match analysed_file(cx, workspace, url).await? {
        AnalysedFile::Gone => return Ok(Fit::AsIs),
        AnalysedFile::Pending => return Ok(Fit::Pending),
        AnalysedFile::Known(file) => *file,
    };
    let is_taken = rules.image_types.contains(&file.mime.as_str());
    let Some(conversion) = platforms::conversion(rules, &draft::to_media(&file, None)) else {
        return Ok(if is_taken { Fit::AsIs } else { Fit::Broken(unfit(file)) });
    };
    Ok(match substitute_variant(cx, &mut file, &conversion).await? {
        VariantState::Put => Fit::Converted(Box::new(file)),
        VariantState::Pending(_) => Fit::Pending,
        VariantState::Failed(error) => Fit::Broken(error.unwrap_or_default()),
        VariantState::None => Fit::AsIs,
    })
}

/// Returns the reason why a photo cannot be converted.
fn unfit(file: PostMedia) -> Value {
    let moves = file.facts.is_some_and(|facts| facts.animated);
    let message = if moves {
        "The picture moves; only a photo is taken."
    } else {
        "The file is no photo that can be converted."
    };
    let code = Code::MediaTypeUnsupported.entry();
    file.flaw.unwrap_or_else(
        || json!({"code": code.code, "message": message, "remedy": "Send a JPEG or PNG."}),
    )
}
