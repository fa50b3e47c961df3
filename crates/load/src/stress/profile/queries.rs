//! Queries of a profile. The node names their markers when it prepares them.

use super::cql::{qualified, trimmed};
use super::source::{Profile, Query, TokenRangeQuery};
use crate::rows::Role;
use crate::stress::draft::{Effect, MadeDraft, OperationDraft, quoted};

/// Builds the operation of a query.
pub(super) fn query(profile: &Profile, query: &Query) -> OperationDraft {
    OperationDraft {
        consistency: query.consistency.clone(),
        serial_consistency: query.serial_consistency.clone(),
        ..OperationDraft::new(
            &qualified(trimmed(&query.cql), &quoted(&profile.keyspace)),
            MadeDraft::Queries(query.fields),
            Effect::Reads { must_find: false },
        )
    }
}

/// Builds the operation of a token range query. The tokens of the rows tell their partitions.
pub(super) fn scan(profile: &Profile, scan: &TokenRangeQuery, split: u64) -> OperationDraft {
    let columns = profile.table.columns.iter();
    let names = |keys: bool| {
        let wanted = columns.clone().filter(|column| !keys || column.role == Role::Partition);
        wanted.map(|column| quoted(&column.name)).collect::<Vec<_>>().join(", ")
    };
    let token = format!("token({})", names(true));
    // CQL has no `token(…), *`.
    let selected = if scan.columns.trim() == "*" { names(false) } else { scan.columns.clone() };
    let table = profile.full_name();
    let cql = format!("SELECT {token}, {selected} FROM {table} WHERE {token} > ? AND {token} <= ?");
    OperationDraft::new(&cql, MadeDraft::Ranges { split, page_size: scan.page_size }, Effect::Scans)
}
