//! Finds the agent's jar, the profiler's library and the pages' templates, which the binary carries.

use std::path::Path;

fn main() {
    // As its Maven artifact names the architectures.
    let architecture = match std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("aarch64") => "arm64",
        _ => "x64",
    };
    let profiler = format!("../../agent/target/profiler/linux-{architecture}/libasyncProfiler.so");
    for (variable, built, how) in [
        ("HELENUS_AGENT_JAR", "../../agent/target/helenus-agent.jar", "mvn -f agent/pom.xml package"),
        ("HELENUS_PROFILER", profiler.as_str(), "mvn -f agent/pom.xml package"),
        ("HELENUS_FLAME_HTML", "../../web/dist/flame.html", "npm --prefix web run build"),
        ("HELENUS_REPORT_HTML", "../../web/dist/report.html", "npm --prefix web run build"),
    ] {
        println!("cargo::rerun-if-changed={built}");
        let Ok(path) = Path::new(built).canonicalize() else {
            println!("cargo::error={built} is not built yet: run `make build`, or `{how}`");
            continue;
        };
        println!("cargo::rustc-env={variable}={}", path.display());
    }
}
