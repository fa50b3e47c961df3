//! The seal of a group of bytes in a stream: checksums by which a reader knows whether the group is intact.
//!
//! A stream is a plain Arrow IPC stream. A group is what is appended to it in one write: its schema, or the dictionaries of a
//! batch and the batch. The metadata of a group's first message is padded by 40 bytes more than Arrow needs, which hold the seal; readers
//! of Arrow skip padding. Little endian:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `HLNSseal` |
//! | 4 | from the begin of the group to the seal, in bytes |
//! | 4 | length of the group in bytes |
//! | 4 | rows of the group; 0 for the schema |
//! | 4 | CRC-32 of the schema's message without its seal |
//! | 8 | rows of the stream before the group |
//! | 4 | CRC-32 of the bytes after the seal |
//! | 4 | CRC-32 of the bytes from the begin of the group to here |

use crate::Error;

pub(crate) const MAGIC: [u8; 8] = *b"HLNSseal";
pub(crate) const BYTES: usize = 40;
/// Bytes before the metadata of a message: a mark and the metadata's length.
pub(crate) const PREFIX_BYTES: usize = 8;
const MARK: [u8; 4] = [0xff; 4];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) before: u32,
    pub(crate) length: u32,
    pub(crate) rows: u32,
    pub(crate) schema: u32,
    pub(crate) first_row: u64,
    body: u32,
    head: u32,
}

/// The messages of a group, sealed.
pub(crate) fn seal(messages: &[u8], rows: u32, first_row: u64, schema: u32) -> Result<Vec<u8>, Error> {
    let large = |_| Error::Arrow(arrow::error::ArrowError::IpcError("a batch is larger than 4 GiB".to_string()));
    let metadata = metadata_length(messages).unwrap_or(0) as usize;
    let at = PREFIX_BYTES + metadata;
    let mut sealed = Vec::with_capacity(messages.len() + BYTES);
    sealed.extend(MARK);
    sealed.extend(u32::try_from(metadata + BYTES).map_err(large)?.to_le_bytes());
    sealed.extend(&messages[PREFIX_BYTES..at]);
    sealed.extend(MAGIC);
    sealed.extend(u32::try_from(at).map_err(large)?.to_le_bytes());
    sealed.extend(u32::try_from(messages.len() + BYTES).map_err(large)?.to_le_bytes());
    sealed.extend(rows.to_le_bytes());
    sealed.extend(schema.to_le_bytes());
    sealed.extend(first_row.to_le_bytes());
    sealed.extend(crc32fast::hash(&messages[at..]).to_le_bytes());
    sealed.extend(crc32fast::hash(&sealed).to_le_bytes());
    sealed.extend(&messages[at..]);
    Ok(sealed)
}

/// Length of the metadata of the message at the start of `bytes`; None if no message begins there.
pub(crate) fn metadata_length(bytes: &[u8]) -> Option<u32> {
    let (mark, rest) = bytes.split_first_chunk::<4>()?;
    (*mark == MARK).then_some(u32::from_le_bytes(*rest.first_chunk()?))
}

impl Seal {
    /// Parses a seal in arbitrary bytes. None if they are no seal.
    pub(crate) fn read(bytes: &[u8; BYTES]) -> Option<Seal> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        (bytes[..8] == MAGIC).then(|| Seal {
            before: word(8),
            length: word(12),
            rows: word(16),
            schema: word(20),
            first_row: u64::from(word(24)) | u64::from(word(28)) << 32,
            body: word(32),
            head: word(36),
        })
    }

    /// Offset of the body from the start of the group.
    pub(crate) fn head_length(&self) -> u64 {
        u64::from(self.before) + BYTES as u64
    }

    /// Whether the group's begin, up to and including the seal, is intact.
    pub(crate) fn has_head(&self, head: &[u8]) -> bool {
        head.len() as u64 == self.head_length() && crc32fast::hash(&head[..head.len() - 4]) == self.head
    }

    /// Whether the rest of the group is intact.
    pub(crate) fn has_body(&self, body: &[u8]) -> bool {
        crc32fast::hash(body) == self.body
    }
}
