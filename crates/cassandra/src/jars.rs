//! Releases of Cassandra: fetched once through Maven, then kept in the cache.
//!
//! The release tarballs are in no package registry, but all their jars are in Maven's central
//! repository: `cassandra-all` with its run-time dependencies is what the tarball's lib/ holds.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::places::make_private;
use crate::{Cancel, Error, Places, Progress, Version, apart};

/// A release on this machine's disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    pub version: Version,
    folder: PathBuf,
}

impl Release {
    /// The folder of its jars.
    #[must_use]
    pub fn lib(&self) -> PathBuf {
        self.folder.join("lib")
    }

    /// Inlining hints for HotSpot, which the tarball has in conf/.
    #[must_use]
    pub fn compiler_hints(&self) -> PathBuf {
        self.folder.join("META-INF/hotspot_compiler")
    }

    /// The jar that measures objects; the stock start script loads it as an agent.
    ///
    /// # Errors
    /// [`Error::File`] when the folder cannot be read.
    pub fn jamm(&self) -> Result<Option<PathBuf>, Error> {
        Ok(self
            .jars()?
            .into_iter()
            .find(|jar| jar.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"jamm-"))))
    }

    /// All jars in alphabetical order, as the stock start script's glob lists them.
    ///
    /// # Errors [`Error::File`] if the folder cannot be read.
    pub fn jars(&self) -> Result<Vec<PathBuf>, Error> {
        let lib = self.lib();
        let entries = std::fs::read_dir(&lib).map_err(Error::file("read the folder", &lib))?;
        let mut jars: Vec<_> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|e| e == "jar"))
            .collect();
        jars.sort();
        Ok(jars)
    }
}

/// The release from the cache, or fetched into it. Works offline once fetched; two at a time wait
/// for each other.
///
/// # Errors
/// No Maven, no such release, no network, each with the end of Maven's output; cancelled.
pub fn fetch(
    places: &Places,
    version: Version,
    progress: &mut dyn FnMut(Progress),
    cancel: &Cancel,
) -> Result<Release, Error> {
    let releases = places.cache.join("cassandra");
    let release = Release { version, folder: releases.join(version.to_string()) };
    if !release.folder.exists() {
        make_private(&releases)?;
        let _lock = lock(&releases.join(format!(".{version}.lock")), version, progress, cancel)?;
        // Another process may have fetched it meanwhile.
        if !release.folder.exists() {
            fetch_into(&releases, &release, progress, cancel)?;
        }
    }
    Ok(release)
}

/// An exclusive lock, held until the file is dropped; it ends with its process.
fn lock(path: &Path, version: Version, progress: &mut dyn FnMut(Progress), cancel: &Cancel) -> Result<File, Error> {
    let file = File::create(path).map_err(Error::file("make the lock", path))?;
    let mut announced = false;
    // SAFETY: a plain system call on a descriptor that outlives it.
    while unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if !announced {
            progress(Progress::WaitingForFetch { version });
            announced = true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(file)
}

fn fetch_into(
    releases: &Path,
    release: &Release,
    progress: &mut dyn FnMut(Progress),
    cancel: &Cancel,
) -> Result<(), Error> {
    let version = release.version;
    progress(Progress::Fetching { version, files: 0 });
    // Beside the final place, so that the rename stays on one file system.
    let folder = tempfile::Builder::new().prefix(&format!(".{version}-")).tempdir_in(releases);
    let folder = folder.map_err(Error::file("make a folder in", releases))?;
    let pom = folder.path().join("pom.xml");
    std::fs::write(&pom, project(version)).map_err(Error::file("write", &pom))?;
    run_maven(folder.path(), version, progress, cancel)?;
    let fetched = Release { version, folder: folder.path().to_owned() };
    let jars = fetched.jars()?.len();
    std::fs::rename(folder.keep(), &release.folder).map_err(Error::file("make the folder", &release.folder))?;
    progress(Progress::Fetched { version, jars });
    Ok(())
}

/// The project whose one dependency is the release. The plugin's version is pinned: what an older
/// Maven would take by default differs from machine to machine.
fn project(version: Version) -> String {
    format!(
        r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>io.helenus</groupId><artifactId>release</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId><version>{version}</version></dependency>
  </dependencies>
  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId><version>3.8.1</version>
    <executions>
      <execution>
        <id>jars</id><phase>process-resources</phase><goals><goal>copy-dependencies</goal></goals>
        <configuration><includeScope>runtime</includeScope><outputDirectory>${{project.basedir}}/lib</outputDirectory></configuration>
      </execution>
      <execution>
        <id>hints</id><phase>process-resources</phase><goals><goal>unpack-dependencies</goal></goals>
        <configuration>
          <includeArtifactIds>cassandra-all</includeArtifactIds><includes>META-INF/hotspot_compiler</includes>
          <outputDirectory>${{project.basedir}}</outputDirectory><markersDirectory>${{project.basedir}}/.markers</markersDirectory>
        </configuration>
      </execution>
    </executions>
  </plugin></plugins></build>
</project>
"#
    )
}

fn run_maven(
    folder: &Path,
    version: Version,
    progress: &mut dyn FnMut(Progress),
    cancel: &Cancel,
) -> Result<(), Error> {
    let mut maven = Command::new("mvn");
    maven.args(["-B", "-U", "-Dstyle.color=never", "process-resources"]).current_dir(folder);
    // -U: without it Maven remembers for a day that it could not reach its repository.
    // Apart, so that a cancelled fetch takes the group of Maven's children along and a terminal's Ctrl-C reaches it
    // through `cancel` only.
    let maven = apart(maven.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut child = maven.spawn().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Error::NoMaven { version },
        _ => Error::Spawn { program: "mvn".into(), source },
    })?;
    let (lines, received) = mpsc::channel();
    let streams: [Option<Box<dyn Read + Send>>; 2] =
        [child.stdout.take().map(|s| Box::new(s) as _), child.stderr.take().map(|s| Box::new(s) as _)];
    for stream in streams.into_iter().flatten() {
        let lines = lines.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if lines.send(line).is_err() {
                    break;
                }
            }
        });
    }
    drop(lines);
    let (mut output, mut files) = (Vec::new(), 0);
    loop {
        match received.recv_timeout(Duration::from_millis(50)) {
            Ok(line) => {
                if line.contains("Downloaded from") && line.contains(".jar") {
                    files += 1;
                    progress(Progress::Fetching { version, files });
                }
                output.push(line);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if cancel.is_cancelled() {
            // SAFETY: a plain system call; the group is the one made above.
            unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
            // Reaped, so that no zombie stays; its result is known already.
            let _ = child.wait();
            return Err(Error::Cancelled);
        }
    }
    let status = child.wait().map_err(|source| Error::Spawn { program: "mvn".into(), source })?;
    if status.success() { Ok(()) } else { Err(explain(version, &output)) }
}

/// Names the cause of a failed run from Maven's own words.
fn explain(version: Version, lines: &[String]) -> Error {
    let text = lines.join("\n");
    let missing = [
        "Could not find artifact org.apache.cassandra:cassandra-all",
        "Failure to find org.apache.cassandra:cassandra-all",
    ];
    let network = [
        "Unknown host",
        "Connection refused",
        "Network is unreachable",
        "Temporary failure in name resolution",
        "timed out",
        "No route to host",
        "in offline mode",
        "Could not transfer artifact",
    ];
    let output = last_words(lines);
    if missing.iter().any(|part| text.contains(part)) {
        Error::NoSuchRelease { version, output }
    } else if network.iter().any(|part| text.contains(part)) {
        Error::NoNetwork { version, output }
    } else {
        Error::Maven { version, output }
    }
}

/// The error lines, without those that explain how to run Maven again; all lines if no others remain.
fn last_words(lines: &[String]) -> String {
    const ADVICE: [&str; 4] =
        ["[Help", "Re-run Maven", "To see the full stack trace", "For more information about the errors"];
    let error = |line: &String| line.strip_prefix("[ERROR]").map(|text| text.trim().to_owned());
    let wanted = |text: &String| !text.is_empty() && !ADVICE.iter().any(|advice| text.starts_with(advice));
    let mut kept: Vec<_> = lines.iter().filter_map(error).filter(wanted).collect();
    if kept.is_empty() {
        kept = lines.to_vec();
    }
    kept[kept.len().saturating_sub(8)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_missing_release_is_told_from_a_missing_network() {
        let version = "5.0.99".parse().unwrap();
        let stderr = lines(
            "[INFO] Scanning\n[ERROR] Failed to execute goal: Could not find artifact org.apache.cassandra:cassandra-all:jar:5.0.99 in central\n[ERROR] \n[ERROR] Re-run Maven using the -X switch",
        );
        let error = explain(version, &stderr);
        assert!(matches!(error, Error::NoSuchRelease { .. }), "{error}");
        assert!(!error.to_string().contains("Scanning") && !error.to_string().contains("Re-run"), "{error}");
        let stderr = lines("[ERROR] Plugin x could not be resolved: Could not transfer artifact y: Unknown host repo");
        assert!(matches!(explain(version, &stderr), Error::NoNetwork { .. }));
        assert!(matches!(explain(version, &lines("[ERROR] disk full")), Error::Maven { .. }));
        assert!(matches!(explain(version, &[]), Error::Maven { .. }));
    }

    #[test]
    fn jars_come_sorted_and_jamm_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let release = Release { version: Version::default(), folder: folder.path().to_owned() };
        std::fs::create_dir(release.lib()).unwrap();
        for name in ["z.jar", "jamm-0.4.0.jar", "a.jar", "notes.txt"] {
            std::fs::write(release.lib().join(name), "").unwrap();
        }
        let names: Vec<_> = release.jars().unwrap().iter().map(|p| p.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["a.jar", "jamm-0.4.0.jar", "z.jar"]);
        assert!(release.jamm().unwrap().unwrap().ends_with("jamm-0.4.0.jar"));
    }
}
