use fanfare_entities::Millis;
use sea_orm::{
    EntityTrait, ExprTrait, QueryFilter, UpdateMany,
    sea_query::{Alias, Expr},
};

use super::Lease;
use crate::mutation::{self, Mutation};

/// Begins the update that releases a claimed row, to be claimed again at `due_at` or never. It changes nothing if
/// another worker has the row.
pub fn give_back<E: EntityTrait>(
    lease: Lease,
    due_at: Option<Millis>,
    now: Millis,
) -> UpdateMany<E> {
    let column = Alias::new;
    let fencing = Expr::col(column("fencing_token")).eq(lease.fencing_token);
    let fencing = if mutation::is_off(Mutation::CompleteStepFenced) {
        fencing
    } else {
        Expr::col(column("due_at")).is_not_null()
    };
    E::update_many()
        .col_expr(column("due_at"), Expr::value(due_at))
        .col_expr(column("lease_expirations"), Expr::value(0))
        .col_expr(column("fencing_token"), Expr::value(lease.fencing_token + 1))
        .col_expr(column("updated_at"), Expr::value(now))
        .filter(Expr::col(column("id")).eq(lease.id))
        .filter(fencing)
}
