//! The report and other pages: the figures of a recording inside the page that shows them.

use crate::assets::{FLAME_HTML, REPORT_HTML};
use anyhow::{Context, Result, ensure};
use helenus_recording::private;
use std::path::Path;

/// The placeholder for the figures in each page.
const PLACE: &str = "/*HELENUS_REPORT*/";
const FLAME_PLACE: &str = "/*HELENUS_FLAME*/";

/// Writes a report that only its owner can read, as a recording is.
pub fn write(figures: &impl serde::Serialize, output: &Path) -> Result<()> {
    write_page(&html(figures)?, output)
}

/// Renders a report as one HTML file.
pub fn html(figures: &impl serde::Serialize) -> Result<String> {
    page(REPORT_HTML, PLACE, &serde_json::to_string(figures)?)
}

/// Writes the page of a flame graph, as private.
pub fn write_flame(tree: &impl serde::Serialize, output: &Path) -> Result<()> {
    write_page(&page(FLAME_HTML, FLAME_PLACE, &serde_json::to_string(tree)?)?, output)
}

fn write_page(page: &str, output: &Path) -> Result<()> {
    private::write(output, page.as_bytes()).with_context(|| format!("cannot write {}", output.display()))
}

/// The page with its figures. `<` occurs in JSON only within texts, where it may be escaped. The escape keeps a text of a
/// recording from ending the script element that holds the JSON.
fn page(page: &str, place: &str, json: &str) -> Result<String> {
    ensure!(page.matches(place).count() == 1, "the page has no place for its figures");
    Ok(page.replacen(place, &json.replace('<', "\\u003c"), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_gets_out_of_its_script() {
        for (html, place) in [(REPORT_HTML, PLACE), (FLAME_HTML, FLAME_PLACE)] {
            let page = page(html, place, r#"{"title":"</script><script>alert(1)</script>"}"#).unwrap();
            assert!(page.contains(r#"{"title":"\u003c/script>\u003cscript>alert(1)\u003c/script>"}"#));
            assert!(!page.contains(place));
        }
    }
}
