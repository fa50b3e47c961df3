//! Writes the types that the pages receive in TypeScript: `web/src/model.ts`, made from the Rust types.

use super::Report;
use crate::compare::WindowChanges;
use crate::gc::NodeGc;
use crate::io::Io;
use crate::live::{
    LiveDropped, LiveFile, LiveGroup, LiveNode, LiveOverlap, LivePause, LivePool, LiveSlow, LiveTable, LiveTraffic,
    LiveValve, LiveView,
};
use crate::tables::TableHealth;
use crate::traffic::{ClientFigures, SharedValues, SlowRequest, StatementDetail, StatementFigures, TrafficTable};
use crate::workbench::{Answer, Controls, Happened, Listed, LiveFindings, Queried, Saved, Schema, SettingNow};
use std::any::TypeId;
use std::collections::{BTreeMap, HashSet};
use ts_rs::{Config, TS, TypeVisitor};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/model.ts");
const COMMAND: &str = "INSTA_UPDATE=always cargo test --workspace --lib report::typescript";

#[test]
fn the_pages_have_the_types_of_the_report() {
    let config = Config::new().with_large_int("number");
    let notice = format!("// Generated from the types of crates/explain by `{COMMAND}`. Do not edit.\n");
    let mut types = Types { config, known: HashSet::new(), declarations: BTreeMap::new() };
    types.visit::<Report>();
    types.visit::<Answer>();
    types.visit::<LiveFindings>();
    types.visit::<Listed>();
    types.visit::<Saved>();
    types.visit::<Controls>();
    types.visit::<SettingNow>();
    types.visit::<Queried>();
    types.visit::<Schema>();
    types.visit::<Happened>();
    types.visit::<TrafficTable<StatementFigures>>();
    types.visit::<StatementFigures>();
    types.visit::<ClientFigures>();
    types.visit::<StatementDetail>();
    types.visit::<SlowRequest>();
    types.visit::<SharedValues>();
    types.visit::<WindowChanges>();
    types.visit::<Io>();
    types.visit::<TableHealth>();
    types.visit::<NodeGc>();
    types.visit::<LiveView>();
    types.visit::<LiveTraffic>();
    types.visit::<LiveGroup>();
    types.visit::<LiveNode>();
    types.visit::<LivePool>();
    types.visit::<LiveDropped>();
    types.visit::<LiveTable>();
    types.visit::<LiveValve>();
    types.visit::<LiveFile>();
    types.visit::<LivePause>();
    types.visit::<LiveSlow>();
    types.visit::<LiveOverlap>();
    let text: String = std::iter::once(notice).chain(types.declarations.into_values()).collect();
    // The variable that also updates insta's snapshots.
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(PATH, &text).unwrap();
    }
    let committed = std::fs::read_to_string(PATH).unwrap_or_default();
    assert!(committed == text, "web/src/model.ts differs from the types of the report; run `{COMMAND}`");
}

/// The types found so far.
struct Types {
    config: Config,
    known: HashSet<TypeId>,
    /// Sorted by name, because ts-rs reports the parts of a type in no fixed order.
    declarations: BTreeMap<String, String>,
}

impl TypeVisitor for Types {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Lists and numbers have no declaration of their own.
        if T::output_path().is_none() || !self.known.insert(TypeId::of::<T>()) {
            return;
        }
        let comment = comment(&T::docs().unwrap_or_default(), "");
        let declaration = format!("\n{comment}export {}\n", lines(&T::decl(&self.config)));
        self.declarations.insert(T::name(&self.config), declaration);
        T::visit_dependencies(self);
    }
}

/// A declaration in one line, except for comments, is split into one line per member.
fn lines(declaration: &str) -> String {
    let Some((head, rest)) = declaration.split_once("{ ") else { return declaration.to_string() };
    let members = rest.trim_end_matches(['}', ';', ' ']);
    let mut out = format!("{head}{{\n");
    let (mut rest, mut member, mut depth) = (members.trim_start(), String::new(), 0);
    while let Some(letter) = rest.chars().next() {
        if rest.starts_with("/**")
            && let Some(end) = rest.find("*/")
        {
            out += &comment(&rest[..end + 2], "  ");
            rest = rest[end + 2..].trim_start();
            continue;
        }
        rest = &rest[letter.len_utf8()..];
        match letter {
            '<' | '[' | '(' | '{' => depth += 1,
            '>' | ']' | ')' | '}' => depth -= 1,
            _ => {}
        }
        if letter == ',' && depth == 0 {
            out += &format!("  {};\n", std::mem::take(&mut member));
            rest = rest.trim_start();
        } else {
            member.push(letter);
        }
    }
    out + "};"
}

/// A comment with its lines indented, on one line where it has only one. None in Rust is null in JSON.
fn comment(text: &str, indent: &str) -> String {
    let text = text.replace("None", "null");
    let inner = text.trim().trim_start_matches("/**").trim_end_matches("*/").trim();
    let lines: Vec<&str> = inner.lines().map(|line| line.trim().trim_start_matches('*').trim()).collect();
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let lines = lines.iter().map(|line| format!("{indent} * {line}").trim_end().to_string() + "\n");
            format!("{indent}/**\n{}{indent} */\n", lines.collect::<String>())
        }
    }
}
