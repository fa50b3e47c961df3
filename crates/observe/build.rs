//! Compiles the eBPF programs in `bpf/`, which the crate embeds.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let sources = Path::new("../../bpf");
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-env-changed=CLANG");
    let entries = match std::fs::read_dir(sources) {
        Ok(entries) => entries,
        Err(error) => return println!("cargo::error=cannot read {}: {error}", sources.display()),
    };
    for entry in entries.flatten() {
        let file = entry.file_name();
        if let Some(program) = file.to_str().and_then(|file| file.strip_suffix(".bpf.c"))
            && let Err(reason) = compile(sources, program)
        {
            println!("cargo::error={reason}");
        }
    }
}

fn compile(sources: &Path, program: &str) -> Result<(), String> {
    let variable = |name: &str| std::env::var(name).map_err(|_| format!("{name} is not set"));
    let architecture = match variable("CARGO_CFG_TARGET_ARCH")?.as_str() {
        "x86_64" => "x86",
        "aarch64" => "arm64",
        other => {
            return Err(format!("the programs in bpf/ know no registers of {other}; x86_64 and aarch64 they know"));
        }
    };
    let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".to_string());
    let object = PathBuf::from(variable("OUT_DIR")?).join(format!("{program}.bpf.o"));
    // Warnings contain the path of the build folder, so that builds in different folders would differ.
    let status = Command::new(&clang)
        .args(["-g", "-O2", "-Wall", "-Werror", "-target", "bpf", "-mcpu=v3", "-fdebug-prefix-map=../../=."])
        .arg(format!("-D__TARGET_ARCH_{architecture}"))
        // The headers of libbpf, from the same version as the library.
        .arg(format!("-I{}", variable("DEP_BPF_INCLUDE")?))
        .arg("-c")
        .arg(sources.join(format!("{program}.bpf.c")))
        .arg("-o")
        .arg(&object)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{clang} could not compile bpf/{program}.bpf.c ({status})")),
        Err(error) => Err(format!("cannot run {clang}: {error}; apt-get install clang, or name one in CLANG")),
    }
}
