//! A flame graph as an SVG image for mails and wikis; names and shares appear under the pointer.

use super::stacks::Flame;
use super::tree::FlameTree;
use std::fmt::Write;

const WIDTH: f64 = 1200.0;
const ROW: f64 = 17.0;
const MARGIN: f64 = 10.0;
const HEAD: f64 = 44.0;
/// Frames narrower than this many pixels are not drawn.
const NARROWEST: f64 = 0.15;
const CHARACTER: f64 = 6.6;

impl Flame {
    /// The graph as an SVG that a browser shows without other files.
    pub fn svg(&self) -> String {
        draw(self, &self.tree())
    }
}

fn draw(flame: &Flame, tree: &FlameTree) -> String {
    let total = tree.nodes.first().map_or(0, |root| root.weight.max(1)) as f64;
    let other_total = tree.nodes.first().map_or(0, |root| root.other.max(1)) as f64;
    let scale = (WIDTH - 2.0 * MARGIN) / total;
    let shown = |weight: i64| weight as f64 * scale >= NARROWEST;
    let deepest = tree.nodes.iter().filter(|node| shown(node.weight)).map(|node| node.depth).max().unwrap_or(0);
    let height = HEAD + (deepest as f64 + 1.0) * ROW + MARGIN;
    let mut out = String::new();
    // Writing to a String can't fail.
    let _ = write!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="11">
<rect width="100%" height="100%" fill="#fff"/>
<text x="{MARGIN}" y="18" font-size="14" font-family="system-ui, sans-serif">{}</text>
<text x="{MARGIN}" y="34" fill="#555" font-family="system-ui, sans-serif">{} samples of {}{}</text>
"##,
        escape(&flame.title),
        flame.samples,
        escape(&flame.event),
        match flame.against.as_str() {
            "" => String::new(),
            against => format!(", against {} of {}", flame.other_samples, escape(against)),
        },
    );
    // The left edge of the next node at each depth.
    let mut starts = vec![MARGIN];
    for node in &tree.nodes {
        starts.truncate(node.depth + 1);
        let x = starts[node.depth];
        let width = node.weight as f64 * scale;
        starts[node.depth] = x + width;
        starts.push(x);
        if !shown(node.weight) {
            continue;
        }
        let y = height - MARGIN - (node.depth as f64 + 1.0) * ROW;
        let name = &tree.names[node.name];
        let share = node.weight as f64 / total;
        let (fill, compared) = if flame.against.is_empty() {
            (color(node.kind, name), String::new())
        } else {
            let before = node.other as f64 / other_total;
            (difference(share - before), format!(", {:.2} % of the other", before * 100.0))
        };
        let _ = write!(
            out,
            r##"<g><title>{} ({:.2} %{compared})</title><rect x="{x:.2}" y="{y:.1}" width="{:.2}" height="{:.1}" fill="{fill}"/>"##,
            escape(name),
            share * 100.0,
            (width - 0.3).max(0.1),
            ROW - 1.0,
        );
        let room = ((width - 6.0) / CHARACTER) as usize;
        if room >= 3 {
            let _ =
                write!(out, r##"<text x="{:.2}" y="{:.1}">{}</text>"##, x + 3.0, y + 12.0, escape(&fit(name, room)));
        }
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

/// Cut names at the start, because their end is more specific.
fn fit(name: &str, room: usize) -> String {
    let length = name.chars().count();
    if length <= room {
        return name.to_string();
    }
    let end: String = name.chars().skip(length - (room - 1)).collect();
    format!("…{end}")
}

/// The colour of a frame depends on its kind, and a little on its name so that neighbours differ.
fn color(kind: char, name: &str) -> String {
    let shade = name.bytes().fold(7u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte))) % 16;
    let (hue, saturation) = match kind {
        'j' | 'l' | '1' | 'i' => (118, 45),
        'c' => (52, 70),
        'k' => (28, 80),
        'n' => (4, 65),
        'g' => (215, 40),
        _ => (215, 12),
    };
    format!("hsl({hue} {saturation}% {}%)", 66 + shade)
}

/// The colour of a frame in a comparison: red for more weight than on the other side, blue for less.
fn difference(more: f64) -> String {
    let strength = (more.abs() * 10.0).min(1.0).sqrt();
    format!("hsl({} {:.0}% {:.0}%)", if more >= 0.0 { 4 } else { 215 }, 80.0 * strength, 92.0 - 28.0 * strength)
}

/// Escapes a text for XML. Characters that XML can't represent become U+FFFD.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Source: XML 1.0, production 2 (Char). Controls from 7F on are allowed there, and seen nowhere.
            '\u{0}'..='\u{8}'
            | '\u{b}'
            | '\u{c}'
            | '\u{e}'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                escaped.push('\u{fffd}');
            }
            c => escaped.push(c),
        }
    }
    escaped
}
