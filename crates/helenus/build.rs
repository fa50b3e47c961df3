//! Finds the agent's jar and the report's template, which the binary carries.

use std::path::Path;

fn main() {
    for (variable, built, how) in [
        ("HELENUS_AGENT_JAR", "../../agent/target/helenus-agent.jar", "mvn -f agent/pom.xml package"),
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
