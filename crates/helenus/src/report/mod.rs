//! The report and other pages: the figures of a recording inside the page that shows them.

use crate::assets::{FLAME_HTML, REPORT_HTML};
use anyhow::{Context, Result, ensure};
use helenus_recording::private;
use std::io::Read;
use std::path::Path;

/// The placeholder for the figures in each page.
const PLACE: &str = "/*HELENUS_REPORT*/";
/// Bytes of a page up to its title, at most.
const BEGIN: u64 = 4096;
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
    check(output)?;
    private::write(output, page.as_bytes()).with_context(|| format!("cannot write {}", output.display()))
}

/// Refuses names of other formats, and existing files that Helenus did not write.
fn check(output: &Path) -> Result<()> {
    let ending = output.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ensure!(
        ending.as_deref().is_none_or(|ending| ["html", "htm"].contains(&ending)),
        "{} would be an HTML page: name it .html (a browser prints it as PDF); --json gives the figures",
        output.display()
    );
    let Ok(file) = std::fs::File::open(output) else { return Ok(()) };
    let mut begin = String::new();
    // Pages of Helenus are UTF-8.
    let read = file.take(BEGIN).read_to_string(&mut begin);
    ensure!(
        begin.is_empty() && read.is_ok() || begin.contains("<title>Helenus"),
        "{} exists, and Helenus did not write it: name another file, or remove it",
        output.display()
    );
    Ok(())
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
    fn pages_replace_pages_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a.html", "b.HTM", "c"] {
            write(&1, &at(name)).unwrap();
            write(&2, &at(name)).unwrap();
            assert!(std::fs::read_to_string(at(name)).unwrap().contains("Helenus"));
        }
        for name in ["x.pdf", "x.json"] {
            assert!(write(&1, &at(name)).unwrap_err().to_string().contains("name it .html"));
            assert!(!at(name).exists());
        }
        for content in [&b"notes"[..], &[0xff; 9000]] {
            std::fs::write(at("notes.html"), content).unwrap();
            assert!(write_flame(&1, &at("notes.html")).unwrap_err().to_string().contains("Helenus did not write it"));
            assert_eq!(std::fs::read(at("notes.html")).unwrap(), content);
        }
    }

    #[test]
    fn no_text_gets_out_of_its_script() {
        for (html, place) in [(REPORT_HTML, PLACE), (FLAME_HTML, FLAME_PLACE)] {
            let page = page(html, place, r#"{"title":"</script><script>alert(1)</script>"}"#).unwrap();
            assert!(page.contains(r#"{"title":"\u003c/script>\u003cscript>alert(1)\u003c/script>"}"#));
            assert!(!page.contains(place));
        }
    }
}
