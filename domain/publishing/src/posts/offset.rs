//! Lists of posts by offset, for clients that count pages.

use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result},
    input, page,
};
use fanfare_entities::post;
use sea_orm::{Order, QueryOrder, QuerySelect};

use super::{
    media_facts,
    read::{self, PostFilter},
    view::{self, PostPage},
    warnings,
};

/// The number of rows that are read at once.
const READ_CHUNK: u64 = 25;

/// Returns the sorted page for a filter with `offset` or `sort_by`, with the total number of posts that match it.
///
/// # Errors
/// An invalid offset, field or order.
pub async fn page(act: &Act, filter: &PostFilter, limit: u64) -> Result<Reply<PostPage>> {
    let offset = input::offset(filter.offset)?;
    let order = order(filter)?;
    let by = match filter.sort_by.as_deref() {
        None => post::Column::Id,
        Some("scheduled_at") => post::Column::ScheduledAt,
        Some("updated_at") => post::Column::UpdatedAt,
        Some("created_at") => post::Column::CreatedAt,
        Some(_) => {
            return Err(invalid_field("sort_by", "Use scheduled_at, updated_at or created_at."));
        }
    };
    let query = read::filtered(act, filter, by).await?;
    let total = page::count_up_to(&act.cx.db.read, query.clone(), page::COUNTED).await?;
    let sorted = query.order_by(by, order.clone()).order_by(post::Column::Id, order);
    let mut rows: Vec<post::Model> = Vec::new();
    let mut bytes = 0;
    while (rows.len() as u64) < limit && bytes < page::max_bytes() {
        let read = rows.len() as u64;
        let wanted = READ_CHUNK.min(limit - read);
        let more = sorted.clone().offset(offset + read).limit(wanted).all(&act.cx.db.read).await?;
        let ended = (more.len() as u64) < wanted;
        bytes += more.iter().map(view::size).sum::<usize>();
        rows.extend(more);
        if ended {
            break;
        }
    }
    media_facts::refresh_rows(&act.cx.db.read, &mut rows).await?;
    warnings::note_reconnects(act, &mut rows).await?;
    let why = if rows.is_empty() { Some(read::why_empty(act, filter).await?) } else { None };
    view::offset_page_reply(act, rows, (total, limit, offset), why).await
}

/// Returns true if the filter asks for a sorted page, rather than for one that begins at a cursor.
///
/// # Errors
/// An invalid order, or both.
pub fn is_asked(filter: &PostFilter) -> Result<bool> {
    let is_upwards = matches!(order(filter)?, Order::Asc);
    let sorted = [
        ("offset", filter.offset.is_some()),
        ("sort_by", filter.sort_by.is_some()),
        ("order", is_upwards),
    ];
    let Some((field, _)) = sorted.into_iter().find(|(_, is_sent)| *is_sent) else {
        return Ok(false);
    };
    if filter.cursor.is_none() {
        return Ok(true);
    }
    let message = format!("{field} and cursor cannot be used together.");
    let remedy = "Send the cursor alone, or turn pages with offset.";
    Err(Error::field(Code::ConflictingFields, field, message, remedy))
}

fn order(filter: &PostFilter) -> Result<Order> {
    match filter.order.as_deref() {
        None | Some("desc") => Ok(Order::Desc),
        Some("asc") => Ok(Order::Asc),
        Some(_) => Err(invalid_field("order", "Use asc or desc.")),
    }
}

fn invalid_field(field: &str, remedy: &str) -> Error {
    Error::field(Code::InvalidField, field, format!("{field} is none that is known."), remedy)
}
