//! Media facts: applies the results of analyses to the files of posts.

use fanfare_core::{
    Code,
    error::{Error, Result},
};
use fanfare_entities::{AssetId, media_analysis, media_analysis::WorkStatus, post};
use fanfare_media::Facts;
use sea_orm::ConnectionTrait;
use serde::Deserialize;
use serde_json::json;

use super::{media_of, view::PostMedia};
use crate::media::analysis;

/// Fills in the finished analyses; returns the files whose analysis is still pending.
///
/// # Errors
/// The database's.
pub async fn refresh<C: ConnectionTrait>(
    conn: &C,
    files: &mut [PostMedia],
) -> Result<Vec<AssetId>> {
    let unknown: Vec<_> =
        files.iter().filter(|file| file.is_pending()).filter_map(|file| file.asset_id).collect();
    let known = analysis::find_by_uids(conn, &unknown).await?;
    for file in files.iter_mut().filter(|file| file.is_pending()) {
        if let Some(row) = file.asset_id.and_then(|uid| known.get(&uid)) {
            apply_analysis(file, row);
        }
    }
    let pending = known.values().filter(|row| row.status == WorkStatus::Pending);
    Ok(pending.map(|row| row.asset_id).collect())
}

fn apply_analysis(file: &mut PostMedia, row: &media_analysis::Model) {
    match row.status {
        WorkStatus::Pending => {}
        WorkStatus::Failed => file.flaw = Some(row.error.clone().unwrap_or_default()),
        WorkStatus::Ready => match row.facts.as_ref().map(Facts::deserialize) {
            Some(Ok(facts)) => {
                let side =
                    |pixels: Option<u32>| pixels.and_then(|pixels| i32::try_from(pixels).ok());
                file.width = side(facts.width).or(file.width);
                file.height = side(facts.height).or(file.height);
                file.facts = Some(facts);
            }
            // Without its facts it is unknown whether the file has to be converted.
            None | Some(Err(_)) => {
                tracing::error!(asset.id = %row.uid, "the stored analysis of a file cannot be read");
                file.flaw = Some(json!({
                    "code": Code::InternalError.entry().code,
                    "message": "What was found out about the file cannot be read.",
                    "remedy": "Upload the file again and change the post.",
                }));
            }
        },
    }
}

/// Fills in the finished analyses of rows that are about to be shown or changed, with one query.
///
/// # Errors
/// The database's.
pub async fn refresh_rows<C: ConnectionTrait>(conn: &C, rows: &mut [post::Model]) -> Result<()> {
    // A row that cannot be read is left as it is.
    let mut files: Vec<_> = rows.iter().map(|row| media_of(row).unwrap_or_default()).collect();
    let unknown: Vec<_> = files.iter().flatten().filter(|file| file.is_pending()).collect();
    let unknown: Vec<_> = unknown.into_iter().filter_map(|file| file.asset_id).collect();
    let known = analysis::find_by_uids(conn, &unknown).await?;
    for (row, files) in rows.iter_mut().zip(&mut files) {
        let mut learned = false;
        for file in files.iter_mut().filter(|file| file.is_pending()) {
            if let Some(found) = file.asset_id.and_then(|uid| known.get(&uid)) {
                apply_analysis(file, found);
                learned = true;
            }
        }
        if learned {
            row.media = serde_json::to_value(files).map_err(Error::internal)?;
        }
    }
    Ok(())
}
