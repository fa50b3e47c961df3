//! Decompresses the bodies of messages.

use super::packet::Side;
use helenus_cassandra::cql::Compression;
use helenus_cassandra::cql::frame::{self, BodyReader};
use std::borrow::Cow;

/// The largest body that is decompressed: a few megabytes can expand to hundreds.
const LARGEST: usize = 32 << 20;

/// The body: decompressed, and without the fields that may precede it.
pub(super) fn proper<'a>(
    side: Side,
    flags: u8,
    compressed: Option<Option<Compression>>,
    body: &'a [u8],
) -> Option<Cow<'a, [u8]>> {
    let body = match compressed {
        None => Cow::Borrowed(body),
        Some(Some(compression)) => Cow::Owned(compression.decompress_at_most(LARGEST, body).ok()?),
        // The start of the connection, where compression is negotiated, was not captured.
        Some(None) => {
            let any = [Compression::Lz4, Compression::Snappy];
            Cow::Owned(any.iter().find_map(|compression| compression.decompress_at_most(LARGEST, body).ok())?)
        }
    };
    // In a request, the flags for tracing and warnings add no fields to the body.
    let flags = if side == Side::Client { flags & 0x04 } else { flags };
    let start = frame::skip_extras(&body, flags).ok()?;
    Some(match body {
        Cow::Borrowed(body) => Cow::Borrowed(&body[start..]),
        Cow::Owned(mut body) => {
            body.drain(..start);
            Cow::Owned(body)
        }
    })
}

/// The options of a STARTUP message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Startup {
    pub(super) compression: Option<Compression>,
    pub(super) driver: Driver,
}

/// The driver of a connection, by the name and version that it reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Driver {
    pub(super) name: Option<String>,
    pub(super) version: Option<String>,
}

/// The most characters of a name that are kept.
const LONGEST_NAME: usize = 100;

impl Driver {
    pub(super) fn of(name: Option<&str>, version: Option<&str>) -> Driver {
        let kept = |text: &str| text.chars().take(LONGEST_NAME).collect();
        Driver { name: name.map(kept), version: version.map(kept) }
    }

    /// The bytes that it points to in memory.
    pub(super) fn bytes(&self) -> usize {
        [&self.name, &self.version].into_iter().flatten().map(String::capacity).sum()
    }
}

/// Parses the options of STARTUP as far as possible.
pub(super) fn startup(body: &[u8]) -> Startup {
    let mut startup = Startup::default();
    let mut reader = BodyReader::new(body);
    for _ in 0..reader.short().unwrap_or_default() {
        let (Ok(key), Ok(value)) = (reader.text(), reader.text()) else { break };
        match key {
            "COMPRESSION" => {
                let known = [Compression::Lz4, Compression::Snappy];
                startup.compression = known.into_iter().find(|known| known.name().eq_ignore_ascii_case(value));
            }
            "DRIVER_NAME" => startup.driver.name = Driver::of(Some(value), None).name,
            "DRIVER_VERSION" => startup.driver.version = Driver::of(None, Some(value)).version,
            _ => {}
        }
    }
    startup
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>, flags: u8) {
            let _ = startup(&bytes);
            for compressed in [None, Some(None), Some(Some(Compression::Lz4)), Some(Some(Compression::Snappy))] {
                for side in [Side::Client, Side::Node] {
                    let _ = proper(side, flags, compressed, &bytes);
                }
            }
        }
    }

    #[test]
    fn a_driver_names_itself() {
        let mut body = vec![0, 4];
        let long = "x".repeat(500);
        for text in
            ["CQL_VERSION", "3.4.5", "COMPRESSION", "lz4", "DRIVER_NAME", "Some Driver", "DRIVER_VERSION", &long]
        {
            body.extend((text.len() as u16).to_be_bytes());
            body.extend(text.as_bytes());
        }
        let startup = startup(&body);
        assert_eq!(startup.compression, Some(Compression::Lz4));
        assert_eq!(startup.driver, Driver::of(Some("Some Driver"), Some(&long[..100])));
    }
}
