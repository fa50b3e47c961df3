//! Finds this machine's Java installations, and the one that fits a release.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Error, Version};

/// The environment variable that takes precedence over all others.
pub const HOME_VARIABLE: &str = "HELENUS_JAVA_HOME";

/// One installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Java {
    /// The folder with `bin/java` in it.
    pub home: PathBuf,
    /// The full version, such as "17.0.15" or "1.8.0_402".
    pub version: String,
    /// The feature release: 8, 11, 17, …
    pub feature: u32,
}

impl Java {
    /// Reads one installation.
    ///
    /// # Errors
    /// [`Error::BadJava`] when there is no `bin/java` in it or its version cannot be found out.
    pub fn at(home: &Path) -> Result<Self, Error> {
        let bad = |why: &str| Error::BadJava { home: home.to_owned(), why: why.to_owned() };
        let home = home.canonicalize().map_err(|error| bad(&error.to_string()))?;
        if !home.join("bin/java").is_file() {
            return Err(bad("it has no bin/java"));
        }
        let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
        let version = version_in_release_file(&release).or_else(|| ask(&home));
        let version = version.ok_or_else(|| bad("neither its release file nor bin/java says which version it is"))?;
        let feature = feature(&version).ok_or_else(|| bad(&format!("its version {version:?} cannot be read")))?;
        Ok(Self { home, version, feature })
    }

    #[must_use]
    pub fn program(&self) -> PathBuf {
        self.home.join("bin/java")
    }
}

/// All installations found: JAVA_HOME, the PATH, /usr/lib/jvm, SDKMAN and the IDEs' `~/.jdks`.
#[must_use]
pub fn installed() -> Vec<Java> {
    let mut homes: Vec<PathBuf> = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path =
        std::env::split_paths(&path).map(|folder| folder.join("java")).find_map(|java| java.canonicalize().ok());
    // PATH's java is mostly a chain of links that ends in HOME/bin/java (Java 8: HOME/jre/bin/java).
    homes.extend(on_path.and_then(|java| Some(java.parent()?.parent()?.to_owned())));
    let home = std::env::home_dir().unwrap_or_default();
    for folder in ["/usr/lib/jvm".into(), "/opt/java".into(), home.join(".sdkman/candidates/java"), home.join(".jdks")]
    {
        let mut found: Vec<_> =
            std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        found.sort();
        homes.extend(found);
    }
    let mut all: Vec<Java> = Vec::new();
    for java in homes.iter().filter_map(|home| Java::at(home).ok()) {
        if all.iter().all(|other| other.home != java.home) {
            all.push(java);
        }
    }
    all
}

/// The installation for `version`: the requested one, else the one in `HELENUS_JAVA_HOME` (both must fit), else the
/// best of all [`installed`] ones that fit.
///
/// # Errors
/// [`Error::NoJava`] names what was found and what to install; [`Error::BadJava`] for a named
/// folder that is none.
pub fn for_version(version: Version, asked: Option<&Path>) -> Result<Java, Error> {
    let named = asked.map(Path::to_owned).or_else(|| std::env::var_os(HOME_VARIABLE).map(PathBuf::from));
    let found = match named {
        Some(home) => vec![Java::at(&home)?],
        None => installed(),
    };
    choose(version, found)
}

fn choose(version: Version, found: Vec<Java>) -> Result<Java, Error> {
    let fits = version.line().java();
    let best = fits.iter().find_map(|feature| found.iter().find(|java| java.feature == *feature));
    best.cloned().ok_or_else(|| {
        let list = |java: &Java| format!("{} ({})", java.version, java.home.display());
        let found = match found.as_slice() {
            [] => "none was found".to_owned(),
            some => format!("only this was found: {}", some.iter().map(list).collect::<Vec<_>>().join(", ")),
        };
        Error::NoJava {
            version,
            needs: fits.iter().map(u32::to_string).collect::<Vec<_>>().join(" or "),
            found,
            install: install(fits[0]),
        }
    })
}

fn install(feature: u32) -> String {
    // Debian 12 and later carry 17 or newer only.
    let debian = if feature >= 17 { "Debian, " } else { "" };
    format!(
        "{debian}Ubuntu: apt install openjdk-{feature}-jdk-headless; anywhere: Eclipse Temurin {feature}, by SDKMAN or as a tarball below /usr/lib/jvm"
    )
}

/// `JAVA_VERSION="17.0.15"`
fn version_in_release_file(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    Some(value.trim().trim_matches('"').to_owned()).filter(|version| !version.is_empty())
}

fn ask(home: &Path) -> Option<String> {
    let output = Command::new(home.join("bin/java")).args(["-XshowSettings:properties", "-version"]).output().ok()?;
    version_in_settings(&String::from_utf8_lossy(&output.stderr))
}

/// `    java.version = 17.0.15`
fn version_in_settings(text: &str) -> Option<String> {
    let mut pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.find(|(key, _)| key.trim() == "java.version").map(|(_, value)| value.trim().to_owned())
}

/// Until Java 8 versions began with "1." (JEP 223).
fn feature(version: &str) -> Option<u32> {
    let version = version.strip_prefix("1.").unwrap_or(version);
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn java(version: &str) -> Java {
        Java { home: format!("/jdk/{version}").into(), version: version.into(), feature: feature(version).unwrap() }
    }

    #[test]
    fn feature_releases_are_read() {
        for (version, expected) in [("17.0.15", 17), ("1.8.0_402", 8), ("11.0.23+9", 11), ("25-ea", 25), ("21", 21)] {
            assert_eq!(feature(version), Some(expected), "{version}");
        }
        assert_eq!(feature("x"), None);
    }

    #[test]
    fn the_best_that_fits_is_taken() {
        let found = || vec![java("25"), java("11.0.2"), java("17.0.15"), java("1.8.0_402")];
        assert_eq!(choose("5.0".parse().unwrap(), found()).unwrap().feature, 17);
        assert_eq!(choose("4.1".parse().unwrap(), found()).unwrap().feature, 11);
        assert_eq!(choose("4.0".parse().unwrap(), vec![java("17"), java("1.8.0_402")]).unwrap().feature, 8);
    }

    #[test]
    fn none_that_fits_says_what_was_found_and_what_to_install() {
        let error = choose("4.1".parse().unwrap(), vec![java("17.0.15")]).unwrap_err().to_string();
        assert!(error.contains("needs Java 11 or 8"), "{error}");
        assert!(error.contains("17.0.15 (/jdk/17.0.15)"), "{error}");
        assert!(error.contains("openjdk-11-jdk-headless"), "{error}");
        let error = choose("5.0".parse().unwrap(), vec![]).unwrap_err().to_string();
        assert!(error.contains("none was found"), "{error}");
    }

    #[test]
    fn both_ways_to_say_a_version_are_read() {
        assert_eq!(version_in_release_file("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.1\"\n").as_deref(), Some("17.0.1"));
        assert_eq!(version_in_release_file("OS_NAME=\"Linux\"\n"), None);
        let settings = "Property settings:\n    java.vendor = Debian\n    java.version = 11.0.99\n    java.version.date = 2025-04-15\n";
        assert_eq!(version_in_settings(settings).as_deref(), Some("11.0.99"));
    }

    #[test]
    fn a_program_without_a_release_file_is_asked() {
        let installed = installed().into_iter().next().expect("the tests of this crate need a Java");
        assert_eq!(ask(&installed.home).as_deref(), Some(installed.version.as_str()));
    }

    #[test]
    fn a_folder_without_java_is_refused() {
        let home = tempfile::tempdir().unwrap();
        assert!(Java::at(home.path()).unwrap_err().to_string().contains("no bin/java"));
        assert!(Java::at(&home.path().join("missing")).is_err());
    }
}
