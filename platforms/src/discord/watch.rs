//! Looks at messages that were sent: a server's automatic moderation or somebody may remove one. There are no numbers.

use async_trait::async_trait;
use url::Url;

use super::{
    client,
    error::UNKNOWN_MESSAGE,
    webhook::{NOT_VALID, Webhook},
};
use crate::{
    Error, Result,
    analytics::{Analytics, FetchContext, Metrics, PostRef, is_refusal},
};

/// The most messages that are looked at together.
const BATCH: usize = 10;

/// Looks at messages.
pub(super) struct Watch;

#[async_trait]
impl Analytics for Watch {
    fn has_numbers(&self) -> bool {
        false
    }

    fn has_denominator(&self) -> bool {
        false
    }

    fn measures_posts(&self) -> bool {
        false
    }

    fn watches_posts(&self) -> bool {
        true
    }

    fn batch_size(&self) -> usize {
        BATCH
    }

    async fn posts(
        &self,
        reading: &FetchContext<'_>,
        posts: &[PostRef],
    ) -> Result<Vec<Option<Metrics>>> {
        let address = reading.session.secrets.expose("webhook_url");
        let webhook =
            Webhook::parse(reading.session, address).ok_or_else(|| Error::reconnect(NOT_VALID))?;
        reading.acquire_call().await?;
        let home = client::get(reading.session, &webhook).await?.channel_id;
        let mut read = Vec::with_capacity(posts.len());
        for post in posts {
            let channel = post.url.as_deref().and_then(channel);
            reading.acquire_call().await?;
            let is_there =
                is_there(reading, &webhook, (&post.id, channel, home.as_deref())).await?;
            read.push(is_there.then(Metrics::new));
        }
        Ok(read)
    }
}

/// Returns false for a message that Discord does not know where it was sent. A webhook may have been moved to another channel:
/// then it finds no message of before, and nothing follows from that.
async fn is_there(
    reading: &FetchContext<'_>,
    webhook: &Webhook,
    (id, channel, home): (&str, Option<String>, Option<&str>),
) -> Result<bool> {
    // A thread is a channel of its own.
    let thread = channel.as_deref().filter(|channel| Some(*channel) != home);
    match client::message(reading.session, webhook, id, thread).await {
        Ok(_) => Ok(true),
        Err(error) if is_unknown(&error) => Ok(channel.is_none()),
        Err(error) if is_refusal(&error) => Ok(true),
        Err(error) => Err(error),
    }
}

fn is_unknown(error: &Error) -> bool {
    let code = error.reply.as_ref().and_then(|reply| reply.code.as_deref());
    code.and_then(|code| code.parse().ok()) == Some(UNKNOWN_MESSAGE)
}

/// Returns the channel or thread in the address of a message: `/channels/{server}/{channel}/{message}`.
fn channel(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let mut segments = url.path_segments()?.rev();
    segments.nth(1).filter(|segment| !segment.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::channel;

    #[test]
    fn the_channel_is_the_last_but_one_in_the_address() {
        let of = |address: &str| channel(address);
        assert_eq!(of("https://discord.com/channels/1/22/333").as_deref(), Some("22"));
        assert_eq!(of("https://discord.com/"), None);
        assert_eq!(of("22"), None);
    }
}
