//! Lists of posts by offset, for clients that count pages.

use fanfare_entities::post;
use sea_orm::{Order, PaginatorTrait, QueryOrder, QuerySelect, Select};

use super::{
    media_facts,
    read::PostFilter,
    view::{self, PostPage},
};
use crate::{
    Act, Reply,
    error::{Code, Error, Result},
    input, page,
};

/// The number of rows that are read at once.
const READ_CHUNK: u64 = 25;

/// Returns the sorted page for a filter with `offset` or `sort_by`, with the total number of posts that match it.
///
/// # Errors
/// An invalid offset, field or order.
pub async fn page(
    act: &Act,
    filter: &PostFilter,
    query: Select<post::Entity>,
    limit: u64,
) -> Result<Reply<PostPage>> {
    let offset = input::offset(filter.offset)?;
    let order = match filter.order.as_deref() {
        None | Some("desc") => Order::Desc,
        Some("asc") => Order::Asc,
        Some(_) => return Err(invalid_field("order", "Use asc or desc.")),
    };
    let sorted = match filter.sort_by.as_deref() {
        None => query.clone(),
        Some("scheduled_at") => query.clone().order_by(post::Column::ScheduledAt, order.clone()),
        Some("updated_at") => query.clone().order_by(post::Column::UpdatedAt, order.clone()),
        Some("created_at") => query.clone().order_by(post::Column::CreatedAt, order.clone()),
        Some(_) => {
            return Err(invalid_field("sort_by", "Use scheduled_at, updated_at or created_at."));
        }
    };
    let sorted = sorted.order_by(post::Column::Id, order);
    let total = query.count(&act.cx.db.read).await?;
    let mut rows: Vec<post::Model> = Vec::new();
    let mut bytes = 0;
    while (rows.len() as u64) < limit && bytes < page::MAX_PAGE_BYTES {
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
    view::offset_page_reply(rows, (total, limit, offset)).await
}

fn invalid_field(field: &str, remedy: &str) -> Error {
    Error::field(Code::InvalidField, field, format!("{field} is none that is known."), remedy)
}
