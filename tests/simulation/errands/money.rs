//! Checks that wallets have what was bought, less what was spent and given back.

use std::collections::BTreeMap;

use fanfare_core::{
    Domain,
    db::{Db, statement},
};
use fanfare_entities::{credit_purchase, credit_wallet};
use sea_orm::{ConnectionTrait, EntityTrait};

use super::{Errand, judge::Judge, outside::Sale};
use crate::judge::{Violation, hold};

/// The credits that each payer has from the start.
pub const START: i64 = 100_000;

/// Checks every wallet and the events of ended videos.
pub async fn check(
    (errand, judge): (Errand, &Judge),
    (cx, start): (&Domain, i64),
    sales: &BTreeMap<String, Sale>,
) -> Result<(), Violation> {
    let wallets = credit_wallet::Entity::find().all(&cx.db.read).await.expect("the wallets");
    let bought = credit_purchase::Entity::find().all(&cx.db.read).await.expect("the purchases");
    let spent: i64 = judge
        .rows
        .values()
        .filter(|row| errand == Errand::Videos && row.status == "completed")
        .map(|row| row.credits)
        .sum();
    let of_sales = bought.iter().filter(|one| !one.payment_intent.starts_with("pi_first"));
    let got: i64 = of_sales.map(|one| one.credits - one.taken).sum();
    let held: i64 = wallets.iter().map(|one| one.held + one.included_held).sum();
    let left = left(&cx.db).await;
    hold!(held == 0, "{held} credits stay reserved");
    let expected = start + got - spent;
    hold!(left == expected, "the wallets have {left} credits, not {expected}");
    let wrong = fanfare_people::credits::check(cx).await.expect("the check");
    hold!(wrong.is_empty(), "ledger and wallet differ: {wrong:?}");
    for row in judge.rows.values().filter(|row| row.status == "applied") {
        let id = row.about.trim_start_matches("ch_");
        let bought = bought.iter().find(|one| one.payment_intent == format!("pi_{id}"));
        if let Some(one) = bought {
            let sale = &sales[id];
            hold!(one.credits == sale.credits, "{id} brought {} credits", one.credits);
            let is_told = sale.is_refunded && row.about.starts_with("ch_");
            let due = if is_told { sale.credits } else { one.withdrawn };
            hold!((one.withdrawn, one.taken) == (due, due), "{id} was given back: {one:?}");
        } else {
            hold!(
                row.about.starts_with("ch_"),
                "the payment of {id} was applied, and nothing bought"
            );
        }
    }
    ended_once(errand, judge, cx).await
}

/// Returns the credits of all wallets.
pub async fn left(db: &Db) -> i64 {
    let wallets = credit_wallet::Entity::find().all(&db.read).await.expect("the wallets");
    wallets.iter().map(|one| one.included + one.purchased).sum()
}

/// Checks that every video's end was announced once.
async fn ended_once(errand: Errand, judge: &Judge, cx: &Domain) -> Result<(), Violation> {
    if errand != Errand::Videos {
        return Ok(());
    }
    let sql = "SELECT count(*) AS said FROM events WHERE event_type LIKE 'video_job.%'";
    let row = cx.db.read.query_one_raw(statement(&cx.db.read, sql, [])).await.expect("the events");
    let said: i64 = row.expect("a number").try_get("", "said").expect("a number");
    let ended = judge.rows.len();
    hold!(
        usize::try_from(said).is_ok_and(|said| said == ended),
        "{ended} videos ended, {said} events say so"
    );
    Ok(())
}
