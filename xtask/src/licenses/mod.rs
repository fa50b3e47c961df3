//! The parts of other authors in the binary: whether their licenses are permissive, and the list that `helenus licenses`
//! prints, `crates/helenus/third-party.toml`.

mod java;
mod npm;
mod rust;
mod texts;

use crate::root;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use texts::Texts;

const LIST: &str = "crates/helenus/third-party.toml";

/// Licenses that require at most a notice.
const PERMISSIVE: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Parts of the binary whose license text is in no package.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Carried {
    java: Vec<java::Archive>,
    source: Vec<rust::Source>,
}

#[derive(Debug, Serialize)]
struct Part {
    name: String,
    version: String,
    /// License as an SPDX expression.
    license: String,
    /// What contains it: the binary, the agent or the pages.
    of: &'static str,
    /// Keys of its license texts.
    texts: Vec<String>,
}

#[derive(Debug, Serialize)]
struct List {
    part: Vec<Part>,
    text: std::collections::BTreeMap<String, String>,
}

/// Writes the list, or with `check` fails where it differs from what is there.
pub fn run(check: bool) -> Result<()> {
    let carried: Carried = toml::from_str(include_str!("carried.toml"))?;
    let mut texts = Texts::default();
    let mut part = rust::parts(&carried.source, &mut texts)?;
    part.extend(java::parts(&carried.java, &mut texts)?);
    part.extend(npm::parts(&mut texts)?);
    refuse(&part)?;
    let list = List { part, text: texts.all };
    let text = format!("# Made by `cargo xtask licenses`.\n\n{}", toml::to_string_pretty(&list)?);
    let path = root().join(LIST);
    if !check {
        return std::fs::write(&path, text).with_context(|| format!("cannot write {LIST}"));
    }
    if std::fs::read_to_string(&path).unwrap_or_default() != text {
        bail!("{LIST} does not list what the lock files name; run `cargo xtask licenses`");
    }
    Ok(())
}

fn refuse(parts: &[Part]) -> Result<()> {
    let mut refused = Vec::new();
    for part in parts {
        if !is_permissive(&part.license).with_context(|| part.name.clone())? {
            refused.push(format!("{} {} ({}): {}", part.name, part.version, part.of, part.license));
        }
    }
    if !refused.is_empty() {
        bail!("these licenses are not on the list of permissive ones:\n  {}", refused.join("\n  "));
    }
    Ok(())
}

/// Whether one of the choices of an SPDX expression is permissive; the older `MIT/Apache-2.0` is read too.
fn is_permissive(license: &str) -> Result<bool> {
    let expression = spdx::Expression::parse_mode(license, spdx::ParseMode::LAX)
        .map_err(|error| anyhow::anyhow!("the license `{license}` cannot be read: {}", error.reason))?;
    Ok(expression.evaluate(|required| PERMISSIVE.contains(&required.to_string().as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_permissive_when_one_of_it_is() -> Result<()> {
        for license in ["MIT", "MIT/Apache-2.0", "LGPL-2.1-only OR BSD-2-Clause", "ISC AND (Apache-2.0 OR ISC)"] {
            assert!(is_permissive(license)?, "{license}");
        }
        for license in ["LGPL-3.0-only", "MIT AND GPL-2.0-only", "MPL-2.0 OR GPL-3.0-or-later"] {
            assert!(!is_permissive(license)?, "{license}");
        }
        assert!(is_permissive("see the file LICENSE").is_err());
        Ok(())
    }

    #[test]
    fn a_part_that_is_not_permissive_is_named() {
        let part = Part {
            name: "night-config".into(),
            version: "3.8.3".into(),
            license: "LGPL-3.0-only".into(),
            of: "agent",
            texts: Vec::new(),
        };
        let error = refuse(&[part]).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("night-config 3.8.3 (agent): LGPL-3.0-only"), "{error}");
    }
}
