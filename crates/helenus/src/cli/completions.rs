use anyhow::Result;
use clap::{Args, ValueEnum};
use clap_complete::Shell;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print completions for a shell, or write the man pages
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  helenus completions bash > ~/.local/share/bash-completion/completions/helenus\n  helenus completions man --to ~/.local/share/man/man1"
)]
pub struct Arguments {
    kind: Kind,
    /// Folder for the man pages
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    to: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    Bash,
    Zsh,
    Fish,
    Man,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let mut command = super::help::command();
    let shell = match arguments.kind {
        Kind::Bash => Shell::Bash,
        Kind::Zsh => Shell::Zsh,
        Kind::Fish => Shell::Fish,
        Kind::Man => {
            std::fs::create_dir_all(&arguments.to)?;
            clap_mangen::generate_to(command, &arguments.to)?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    // Written to memory first, because the generator panics if it can't write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "helenus", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
