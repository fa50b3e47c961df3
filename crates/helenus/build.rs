//! Copies the agent's jar, the profiler's library and the pages' templates to the folder that the binary embeds them
//! from. Files that another clone built into the same target folder may be gone.
//!
//! `make check` needs none of them: it sets HELENUS_STUBS in the environment. Then files that were not built are
//! replaced by stubs, and the binary refuses to run.

use std::io::Write;
use std::path::{Path, PathBuf};

fn main() {
    if let Err(error) = deflate("third-party.toml") {
        println!("cargo::error=cannot compress third-party.toml: {error}");
    }
    // Only the linker of this target can merge identical functions.
    if std::env::var("TARGET").as_deref() == Ok("x86_64-unknown-linux-gnu") {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
    with_old_glibc();
    // The names of architectures in its Maven artifacts.
    let architecture = match std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("aarch64") => "arm64",
        _ => "x64",
    };
    let profiler = format!("../../agent/target/profiler/linux-{architecture}/libasyncProfiler.so");
    println!("cargo::rerun-if-env-changed=HELENUS_STUBS");
    let stubs_do = std::env::var_os("HELENUS_STUBS").is_some();
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    let mut missing = Vec::new();
    for (name, built, how, stub) in [
        ("agent.jar", "../../agent/target/helenus-agent.jar", "mvn -f agent/pom.xml package", ""),
        ("profiler.so", profiler.as_str(), "mvn -f agent/pom.xml package", ""),
        ("flame.html", "../../web/dist/flame.html", "npm --prefix web run build", "/*HELENUS_FLAME*/"),
        ("report.html", "../../web/dist/report.html", "npm --prefix web run build", "/*HELENUS_REPORT*/"),
        ("workbench.html", "../../web/dist/workbench/workbench.html", "npm --prefix web run build", "HELENUS_NONCE"),
        ("workbench.js", "../../web/dist/workbench/workbench.js", "npm --prefix web run build", ""),
        ("workbench.css", "../../web/dist/workbench/workbench.css", "npm --prefix web run build", ""),
    ] {
        let to = Path::new(&out).join(name);
        let made = if stubs_do && !Path::new(built).exists() {
            missing.push(name);
            std::fs::write(&to, stub)
        } else {
            // Not for a stub: a file that does not exist would cause a rebuild each time.
            println!("cargo::rerun-if-changed={built}");
            std::fs::copy(built, &to).map(|_| ())
        };
        if let Err(error) = made {
            println!("cargo::error={built} is not built yet ({error}): run `make build`, or `{how}`");
        }
    }
    if !missing.is_empty() {
        let missing = missing.join(", ");
        println!("cargo::warning=this helenus is for `make check` alone, without {missing}");
        println!("cargo::rustc-env=HELENUS_MISSING={missing}");
    }
}

/// Links the binary, and not the tests, with an older C library, so that it starts on older distributions. `xtask/old-glibc.sh` makes
/// the folder; without it the binary needs the glibc of this machine.
fn with_old_glibc() {
    println!("cargo::rerun-if-env-changed=HELENUS_GLIBC");
    let usual = || Some(Path::new(&std::env::var_os("HOME")?).join(".cache/helenus/glibc-2.28"));
    let Some(folder) = std::env::var_os("HELENUS_GLIBC").map(PathBuf::from).or_else(usual) else { return };
    let is_gnu = std::env::var("TARGET").is_ok_and(|target| target.ends_with("-linux-gnu"));
    if is_gnu && folder.join("libc.so").exists() {
        println!("cargo::rustc-link-arg-bins=-B{}", folder.display());
        // The libgcc_s of this machine needs its glibc; that of the other machine needs the other's.
        println!("cargo::rustc-link-arg-bins=-Wl,--allow-shlib-undefined");
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
