//! Texts, images and videos made by models.

use fanfare_core::{Listed, Reply, Result};
use fanfare_insight::ai::{
    captions::{self, Captions},
    image::{self, GeneratedImages},
    prices::{self, PriceList, Priced},
    video::{self, FunctionResult, OneVideoJob, QueuedVideoJob, VideoJobPage, VideoOptions},
};

use crate::{Call, discovery::WorkspaceQuery, wait};

/// Generates captions.
pub async fn generate_captions(mut call: Call) -> Result<Reply<Priced<Captions>>> {
    let new = call.body()?;
    captions::generate(&call.act, new).await
}

/// Generates images.
pub async fn generate_image(mut call: Call) -> Result<Reply<Priced<GeneratedImages>>> {
    let new = call.body()?;
    image::generate(&call.act, new).await
}

/// Lists the prices of all operations that spend credits.
pub async fn list_prices(mut call: Call) -> Result<Reply<PriceList>> {
    call.query::<WorkspaceQuery>()?;
    prices::prices(&call.act).await
}

/// Shows the options for videos.
pub async fn video_options(mut call: Call) -> Result<Reply<VideoOptions>> {
    call.query::<WorkspaceQuery>()?;
    video::options(&call.act).await
}

/// Runs a helper function about videos: a list of models, a validation or an estimate of the cost.
pub async fn video_function(mut call: Call) -> Result<Reply<FunctionResult>> {
    let asked = call.body()?;
    video::call_function(&call.act, asked).await
}

/// Queues a video job.
pub async fn generate_video(mut call: Call) -> Result<Reply<Priced<QueuedVideoJob>>> {
    let asked = call.body()?;
    video::generate(&call.act, asked).await
}

/// Lists video jobs.
pub async fn list_video_jobs(mut call: Call) -> Result<Reply<Listed<VideoJobPage>>> {
    let query = call.query()?;
    video::list(&call.act, query).await
}

/// Shows a video job.
pub async fn get_video_job(mut call: Call) -> Result<Reply<OneVideoJob>> {
    let (wait, id) = (call.query()?, call.video_job()?);
    wait::for_change(wait, (&call.progress, &call.act.cx.stopping), || video::get(&call.act, id))
        .await
}

/// Cancels a video job.
pub async fn cancel_video_job(call: Call) -> Result<Reply<OneVideoJob>> {
    video::cancel(&call.act, call.video_job()?).await
}
