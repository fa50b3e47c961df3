//! The report: the figures of a recording inside the page that shows them.

use crate::assets::REPORT_HTML;
use anyhow::{Context, Result, ensure};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What stands for the figures in the page.
const PLACE: &str = "/*HELENUS_REPORT*/";

/// Writes a report that only its owner can read, as a recording is.
pub fn write(figures: &impl serde::Serialize, output: &Path) -> Result<()> {
    let page = page(&serde_json::to_string(figures)?)?;
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(output)
        .with_context(|| format!("cannot write {}", output.display()))?;
    file.write_all(page.as_bytes()).with_context(|| format!("cannot write {}", output.display()))?;
    Ok(())
}

/// The page with its figures. In JSON `<` only stands within texts, where it may be escaped, so that no text of a
/// recording can end the script element that holds it.
fn page(json: &str) -> Result<String> {
    ensure!(REPORT_HTML.matches(PLACE).count() == 1, "the page of the report has no place for its figures");
    Ok(REPORT_HTML.replacen(PLACE, &json.replace('<', "\\u003c"), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_gets_out_of_its_script() {
        let page = page(r#"{"title":"</script><script>alert(1)</script>"}"#).unwrap();
        assert!(page.contains(r#"{"title":"\u003c/script>\u003cscript>alert(1)\u003c/script>"}"#));
        assert!(!page.contains(PLACE));
    }
}
