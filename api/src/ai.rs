//! Texts, images and films from models.

use fanfare_domain::{
    Reply, Result,
    ai::{
        captions::{self, Captions},
        image::{self, Images},
        video::{self, FunctionResult, VideoOptions},
    },
};

use crate::Call;

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
pub async fn video_options(call: Call) -> Result<Reply<VideoOptions>> {
    video::options(&call.act).await
}

/// Answers a question about films.
pub async fn video_function(mut call: Call) -> Result<Reply<FunctionResult>> {
    let asked = call.body()?;
    video::function(&call.act, asked).await
}
