//! Texts, images and films from models.

use fanfare_domain::{
    Reply, Result,
    ai::{
        captions::{self, Captions},
        image::{self, Images},
        video::{self, FunctionResult, JobPage, OneJob, QueuedJob, VideoOptions},
    },
};

use crate::{Call, discovery::InWorkspace, wait};

/// Writes captions.
pub async fn generate_captions(mut call: Call) -> Result<Reply<Captions>> {
    let new = call.body()?;
    captions::generate(&call.act, new).await
}

/// Draws images.
pub async fn generate_image(mut call: Call) -> Result<Reply<Images>> {
    let new = call.body()?;
    image::generate(&call.act, new).await
}

/// Shows what can be filmed.
pub async fn video_options(mut call: Call) -> Result<Reply<VideoOptions>> {
    call.query::<InWorkspace>()?;
    video::options(&call.act).await
}

/// Answers a question about films.
pub async fn video_function(mut call: Call) -> Result<Reply<FunctionResult>> {
    let asked = call.body()?;
    video::function(&call.act, asked).await
}

/// Queues a film.
pub async fn generate_video(mut call: Call) -> Result<Reply<QueuedJob>> {
    let asked = call.body()?;
    video::generate(&call.act, asked).await
}

/// Lists films.
pub async fn list_video_jobs(mut call: Call) -> Result<Reply<JobPage>> {
    let query = call.query()?;
    video::list(&call.act, query).await
}

/// Shows a film.
pub async fn get_video_job(mut call: Call) -> Result<Reply<OneJob>> {
    let (wait, id) = (call.query()?, call.video_job()?);
    wait::for_change(wait, &call.progress, || video::get(&call.act, id)).await
}

/// Cancels a film.
pub async fn cancel_video_job(call: Call) -> Result<Reply<OneJob>> {
    video::cancel(&call.act, call.video_job()?).await
}
