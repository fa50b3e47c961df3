//! TLS to the nodes: trusted authorities, and the client's certificate.

use crate::Error;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
    StreamOwned,
};
use std::fmt;
use std::io;
use std::net::{IpAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a node's certificate is checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Verify {
    /// An authority signed it, and it is for the node's address
    #[default]
    Address,
    /// An authority signed it, for any address, as Cassandra's own tools check
    Chain,
    /// Any certificate is good: this hides the traffic, and does not prove who answers
    Nothing,
}

/// The files, all PEM.
#[derive(Debug, Clone, Default)]
pub struct TlsFiles {
    /// Certificates of the authorities that are trusted.
    pub authorities: Option<PathBuf>,
    /// Certificate and key of the client, if the nodes require them.
    pub own: Option<(PathBuf, PathBuf)>,
}

/// The client's TLS configuration, for any number of connections.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl Tls {
    pub fn read(files: &TlsFiles, verify: Verify) -> Result<Tls, Error> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = verifier(files.authorities.as_deref(), verify, &provider)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Tls { reason: error.to_string() })?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let config = match &files.own {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let (chain, own) = (certificates(certificate)?, PrivateKeyDer::from_pem_file(key));
                let own = own.map_err(|error| unreadable(key, "a key", &error))?;
                builder.with_client_auth_cert(chain, own).map_err(|error| Error::Tls {
                    reason: format!("{} with {}: {error}", certificate.display(), key.display()),
                })?
            }
        };
        Ok(Tls { config: Arc::new(config) })
    }

    pub(crate) fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.config)
    }

    /// TLS over a socket that is connected to a node.
    ///
    /// # Errors
    /// If TLS can't begin. Errors from the node appear at the first read or write.
    pub fn over(&self, socket: TcpStream, node: IpAddr) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        Ok(StreamOwned::new(self.connect(node).map_err(io::Error::other)?, socket))
    }

    /// A TLS connection to a node, before its first byte.
    pub(crate) fn connect(&self, node: IpAddr) -> Result<ClientConnection, rustls::Error> {
        ClientConnection::new(self.config(), ServerName::IpAddress(node.into()))
    }
}

fn unreadable(path: &Path, what: &str, error: &impl fmt::Display) -> Error {
    let reason = format!(
        "{} is not {what} in PEM ({error}); from a Java keystore: keytool -exportcert -rfc, or openssl pkcs12",
        path.display()
    );
    Error::Tls { reason }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let unreadable = |error: &dyn fmt::Display| unreadable(path, "a certificate", &error.to_string());
    let read: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(&error))?.collect();
    let found = read.map_err(|error| unreadable(&error))?;
    if found.is_empty() { Err(unreadable(&"there is no certificate in it")) } else { Ok(found) }
}

fn verifier(
    authorities: Option<&Path>,
    verify: Verify,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    let lenient = |authorities| Arc::new(Lenient { authorities, provider: Arc::clone(provider) });
    if verify == Verify::Nothing {
        return Ok(lenient(None));
    }
    let path = authorities
        .ok_or_else(|| Error::Tls { reason: "give the authority that signed the nodes' certificates".to_string() })?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| unreadable(path, "an authority's certificate", &error))?;
    }
    let strict = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|error| Error::Tls { reason: format!("{}: {error}", path.display()) })?;
    Ok(if verify == Verify::Chain { lenient(Some(strict)) } else { strict })
}

/// Accepts a certificate for any address; without authorities, one of any signer.
#[derive(Debug)]
struct Lenient {
    authorities: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(authorities) = &self.authorities else { return Ok(ServerCertVerified::assertion()) };
        match authorities.verify_server_cert(certificate, chain, name, ocsp, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
