//! The bodies of messages, without what is put around them.

use super::packet::Side;
use helenus_cassandra::cql::Compression;
use helenus_cassandra::cql::frame::{self, Reader};
use std::borrow::Cow;

/// The body proper: not compressed, and without what may stand before it.
pub(super) fn proper<'a>(
    side: Side,
    flags: u8,
    compressed: Option<Option<Compression>>,
    body: &'a [u8],
) -> Option<Cow<'a, [u8]>> {
    let body = match compressed {
        None => Cow::Borrowed(body),
        Some(Some(compression)) => Cow::Owned(compression.decompress_body(body).ok()?),
        // The begin of the connection, which says it, was not seen.
        Some(None) => {
            let any = [Compression::Lz4, Compression::Snappy];
            Cow::Owned(any.iter().find_map(|compression| compression.decompress_body(body).ok())?)
        }
    };
    // In a request, the flags of tracing and warnings stand for nothing in the body.
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

/// What STARTUP asks for.
pub(super) fn compression(body: &[u8]) -> Option<Compression> {
    let mut reader = Reader::new(body);
    for _ in 0..reader.short().ok()? {
        let (key, value) = (reader.text().ok()?, reader.text().ok()?);
        if key == "COMPRESSION" {
            let known = [Compression::Lz4, Compression::Snappy];
            return known.into_iter().find(|known| known.name().eq_ignore_ascii_case(value));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>, flags: u8) {
            let _ = compression(&bytes);
            for compressed in [None, Some(None), Some(Some(Compression::Lz4)), Some(Some(Compression::Snappy))] {
                for side in [Side::Client, Side::Node] {
                    let _ = proper(side, flags, compressed, &bytes);
                }
            }
        }
    }
}
