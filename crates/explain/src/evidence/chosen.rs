//! The requests that the user asked about, such as those of one statement. Only they are judged; queues, pauses and the
//! machine stay those of all.

use crate::command::Site;
use crate::engine::Engine;
use crate::query;
use crate::requests::Requests;
use crate::traffic::{TrafficFilter, condition};
use crate::{Error, text};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) requests: Rc<Requests>,
    pub(crate) selection: Option<Selection>,
}

/// The choice, if it is not everything.
#[derive(Debug)]
pub(crate) struct Selection {
    /// The index of each chosen request among all.
    pub(crate) rows: Vec<usize>,
    /// The choice, as the rest of a sentence.
    pub(crate) words: String,
    /// SQL conditions on `all_requests`, and on the driver's table `requests`.
    condition: String,
    pub(crate) of_driver: String,
}

impl Chosen {
    pub(crate) fn load(engine: &Engine, all: &Rc<Requests>, filter: &TrafficFilter) -> Result<Chosen, Error> {
        if filter.is_all() {
            return Ok(Chosen { requests: Rc::clone(all), selection: None });
        }
        let by_name = condition(&filter.by_name());
        let found = engine.sql(&query::CHOSEN_REQUESTS.fill(&[("filter", query::Value::Condition(&by_name))]))?;
        let (nodes, operations, clients) = (found.texts("node")?, found.texts("operation")?, found.texts("client")?);
        let [of_node, of_operation, of_client] = [&all.nodes[..], &all.operations, &all.clients].map(numbers);
        let wanted: HashSet<[u16; 3]> = (0..found.rows())
            .filter_map(|row| {
                Some([
                    *of_node.get(nodes[row].as_str())?,
                    *of_operation.get(operations[row].as_str())?,
                    *of_client.get(clients[row].as_str())?,
                ])
            })
            .collect();
        let is_wanted = |row: &usize| {
            let request = &all.rows[*row];
            wanted.contains(&[request.node, request.operation, request.client]) && filter.takes(request.response_ns())
        };
        let rows: Vec<usize> = (0..all.rows.len()).filter(is_wanted).collect();
        if rows.is_empty() && !all.rows.is_empty() {
            let recorded = text::counted(all.rows.len(), "request", "requests");
            let there = Site::of(engine).fill(&what_there_is(all), "");
            return Err(Error::Nothing(format!("none of the {recorded} {}; {there}", filter.words())));
        }
        let listed = |names: Vec<String>| {
            let names: BTreeSet<String> = names.iter().map(|name| query::quoted(name)).collect();
            names.into_iter().collect::<Vec<_>>().join(", ")
        };
        let mut of_driver = format!("operation IN ({}) AND node IN ({})", listed(operations), listed(nodes));
        if let Some(times) = filter.response_time() {
            of_driver.push_str(&format!(" AND {times}"));
        }
        let requests = Rc::new(all.subset(&rows));
        Ok(Chosen {
            requests,
            selection: Some(Selection { words: filter.words(), rows, condition: condition(filter), of_driver }),
        })
    }
}

/// Names the statements, clients and nodes that can be asked for.
fn what_there_is(all: &Requests) -> String {
    let listed =
        |names: &[String]| names.iter().filter(|name| !name.is_empty()).cloned().collect::<Vec<_>>().join(", ");
    let clients = match listed(&all.clients) {
        clients if clients.is_empty() => "the driver of a load has no client address".to_string(),
        _ => "`helenus clients RECORDING` lists the clients".to_string(),
    };
    format!("`helenus statements RECORDING` lists the statements, {clients}, and the nodes are {}", listed(&all.nodes))
}

impl Selection {
    /// A query about all requests, asked about the chosen ones.
    pub(crate) fn of_query(&self, sql: &str) -> String {
        sql.replace("all_requests", &format!("(SELECT * FROM all_requests WHERE {})", self.condition))
    }
}

fn numbers(names: &[String]) -> HashMap<&str, u16> {
    names.iter().zip(0..=u16::MAX).map(|(name, number)| (name.as_str(), number)).collect()
}
