//! Publishing on Discord: one call.

use super::{
    FILE_BYTES_MAX, SPEC,
    client::{self, AllowedMentions, Attachment, ExecuteWebhook, File},
    settings::Settings,
    webhook::{NOT_VALID, Webhook},
};
use crate::{Draft, Error, Media, PublishedPost, Result, Session, kept};

/// Opens all files, then sends the message with them, streaming the files.
pub(super) async fn execute_webhook(session: &Session, draft: &Draft) -> Result<PublishedPost> {
    let settings: Settings = draft.settings()?;
    let address = session.secrets.expose("webhook_url");
    let webhook = Webhook::parse(session, address).ok_or_else(|| Error::reconnect(NOT_VALID))?;
    let files = open(&draft.media).await?;
    let message = ExecuteWebhook {
        content: &draft.caption,
        allowed_mentions: AllowedMentions::default(),
        attachments: attachments(draft, &settings),
        thread_name: settings.thread_name.as_deref(),
    };
    let thread_id = settings.thread_id.as_deref();
    let deadline = SPEC.commit_deadline;
    let made = client::execute(session, &webhook, thread_id, &message, files, deadline).await?;
    if made.id.is_empty() {
        return Err(Error::new(
            crate::ErrorKind::Ambiguous,
            "Discord answered without a message id.",
        ));
    }
    let url = permalink(session, &made);
    let kept = kept::warning(&SPEC, "caption", &[], (&draft.caption, &made.content));
    let warnings = kept.into_iter().collect();
    Ok(PublishedPost { id: made.id, url, warnings, ..PublishedPost::default() })
}

async fn open(media: &[Media]) -> Result<Vec<File<'_>>> {
    let mut files = Vec::with_capacity(media.len());
    for one in media {
        let content = one.stream(FILE_BYTES_MAX).await?;
        files.push(File { filename: &one.filename, mime: &one.mime, content });
    }
    Ok(files)
}

fn attachments<'a>(draft: &'a Draft, settings: &'a Settings) -> Vec<Attachment<'a>> {
    let alt_text = |id: usize| settings.media_alt_texts.get(id).map(String::as_str);
    let described = |(id, media): (usize, &'a Media)| Attachment {
        id: id.to_string(),
        filename: &media.filename,
        description: alt_text(id).filter(|text| !text.is_empty()),
    };
    draft.media.iter().enumerate().map(described).collect()
}

/// Returns the address of a message. A thread is a channel of its own, which the response names.
fn permalink(session: &Session, message: &client::Message) -> Option<String> {
    let guild = session.account.meta_str("guild_id")?;
    let path = format!("/channels/{guild}/{}/{}", message.channel_id, message.id);
    session.public_url(SPEC.base_url, &path)
}
