//! Copies the agent's jar, the profiler's library and the pages' templates to where the binary takes them from: what was built
//! in another clone, with the same target folder, may be gone.

use std::io::Write;
use std::path::Path;

fn main() {
    if let Err(error) = deflate("third-party.toml") {
        println!("cargo::error=cannot compress third-party.toml: {error}");
    }
    // As its Maven artifact names the architectures.
    let architecture = match std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("aarch64") => "arm64",
        _ => "x64",
    };
    let profiler = format!("../../agent/target/profiler/linux-{architecture}/libasyncProfiler.so");
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    for (name, built, how) in [
        ("agent.jar", "../../agent/target/helenus-agent.jar", "mvn -f agent/pom.xml package"),
        ("profiler.so", profiler.as_str(), "mvn -f agent/pom.xml package"),
        ("flame.html", "../../web/dist/flame.html", "npm --prefix web run build"),
        ("report.html", "../../web/dist/report.html", "npm --prefix web run build"),
    ] {
        println!("cargo::rerun-if-changed={built}");
        if let Err(error) = std::fs::copy(built, Path::new(&out).join(name)) {
            println!("cargo::error={built} is not built yet ({error}): run `make build`, or `{how}`");
        }
    }
}

/// A compressed copy of a file.
fn deflate(name: &str) -> std::io::Result<()> {
    println!("cargo::rerun-if-changed={name}");
    let to = Path::new(&std::env::var("OUT_DIR").unwrap_or_default()).join(format!("{name}.deflate"));
    let mut out = flate2::write::DeflateEncoder::new(std::fs::File::create(to)?, flate2::Compression::best());
    out.write_all(&std::fs::read(name)?)?;
    out.finish().map(|_| ())
}
