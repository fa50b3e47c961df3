//! How the nodes are reached: the arguments that all commands have in common that send requests.

use anyhow::{Context, Result, bail};
use clap::Args;
use helenus_load::{Access, Compression, Login, Tls, TlsFiles, VerifyTls};
use helenus_notation::given;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(next_help_heading = "Access to the nodes")]
pub struct AccessArguments {
    /// User name for CQL, if the node requires one
    #[arg(long, value_name = "NAME", requires = "password_file")]
    user: Option<String>,
    /// A file with the user's password, so that it is not seen among the processes
    #[arg(long, value_name = "FILE", requires = "user")]
    password_file: Option<PathBuf>,
    /// Drive only the nodes of this datacenter
    #[arg(long, value_name = "NAME")]
    datacenter: Option<String>,
    /// Compression of the native protocol
    #[arg(long, value_enum, value_name = "NAME")]
    compression: Option<Compression>,
    #[command(flatten)]
    tls: TlsArguments,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Access to the nodes")]
pub struct TlsArguments {
    /// Encrypt with TLS, and trust what the authorities in this PEM file have signed
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// How a node's certificate is checked
    #[arg(long, value_enum, value_name = "WHAT")]
    tls_verify: Option<VerifyTls>,
    /// The client's own certificate, a PEM file, where the nodes want one
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of that certificate, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl AccessArguments {
    pub fn read(&self) -> Result<Access> {
        Ok(Access {
            login: self.login()?,
            compression: self.compression,
            tls: self.tls.read()?,
            datacenter: self.datacenter.clone(),
            ..Access::default()
        })
    }

    fn login(&self) -> Result<Option<Login>> {
        let Some((user, file)) = self.user.clone().zip(self.password_file.as_ref()) else { return Ok(None) };
        let password = given::read_text(file, given::WRITTEN_AT_MOST)
            .with_context(|| format!("cannot read the password file {}", file.display()))?;
        Ok(Some(Login { user, password: password.trim_end_matches(['\r', '\n']).to_string() }))
    }
}

impl TlsArguments {
    pub fn read(&self) -> Result<Option<Tls>> {
        let own = self.tls_cert.clone().zip(self.tls_key.clone());
        let verify = match (&self.tls_ca, self.tls_verify) {
            (None, None) if own.is_none() => return Ok(None),
            (None, verify) if verify != Some(VerifyTls::Nothing) => {
                bail!("give --tls-ca FILE, whose authorities are trusted, or --tls-verify nothing")
            }
            (_, verify) => verify.unwrap_or_default(),
        };
        Ok(Some(Tls::read(&TlsFiles { authorities: self.tls_ca.clone(), own }, verify)?))
    }
}
