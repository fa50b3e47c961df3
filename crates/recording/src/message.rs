//! Checks whether the metadata of an Arrow IPC message can belong to a stream of ours. Arrow's reader panics, or
//! allocates any amount of memory, for some invalid metadata.

use crate::seal::{PREFIX_BYTES, metadata_length};
use arrow::ipc::{
    DictionaryBatch, Field, Message, MessageHeader, Precision, RecordBatch, Schema, Type, root_as_message,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Schema,
    Dictionary,
    Batch,
    /// The mark at the end of a stream.
    End,
}

/// The kind of the message with this metadata, and the length of its body. None if the metadata is invalid.
pub(crate) fn check(metadata: &[u8]) -> Option<(Kind, u64)> {
    let message: Message<'_> = root_as_message(metadata).ok()?;
    let body = u64::try_from(message.bodyLength()).ok()?;
    let kind = match message.header_type() {
        MessageHeader::Schema => check_schema(message.header_as_schema()?).then_some(Kind::Schema)?,
        MessageHeader::DictionaryBatch => {
            let dictionary: DictionaryBatch<'_> = message.header_as_dictionary_batch()?;
            let fits = !dictionary.isDelta() && check_batch(dictionary.data()?, body);
            fits.then_some(Kind::Dictionary)?
        }
        MessageHeader::RecordBatch => check_batch(message.header_as_record_batch()?, body).then_some(Kind::Batch)?,
        _ => return None,
    };
    Some((kind, body))
}

/// Checks messages that fill `bytes` exactly.
pub(crate) fn check_all(mut bytes: &[u8]) -> Option<()> {
    while !bytes.is_empty() {
        let metadata = usize::try_from(metadata_length(bytes)?).ok()?;
        let metadata = bytes.get(PREFIX_BYTES..PREFIX_BYTES.checked_add(metadata)?)?;
        let (_, body) = check(metadata)?;
        let length = (PREFIX_BYTES + metadata.len()).checked_add(usize::try_from(body).ok()?)?;
        bytes = bytes.get(length..)?;
    }
    Some(())
}

fn check_schema(schema: Schema<'_>) -> bool {
    schema.fields().is_some_and(|fields| fields.iter().all(|field| check_field(&field)))
}

/// Checks a column: one of the four types, with texts plain or as a dictionary.
fn check_field(field: &Field<'_>) -> bool {
    let is_plain = field.children().is_none_or(|children| children.is_empty());
    let is_known = match field.type_type() {
        Type::Int => field.type_as_int().is_some_and(|int| int.bitWidth() == 64 && int.is_signed()),
        Type::FloatingPoint => field.type_as_floating_point().is_some_and(|of| of.precision() == Precision::DOUBLE),
        Type::Utf8 => true,
        Type::Bool => true,
        _ => false,
    };
    let index = field.dictionary().map(|dictionary| dictionary.indexType());
    let is_index_known = index.is_none_or(|index| index.is_some_and(|int| int.bitWidth() == 32 && int.is_signed()));
    field.name().is_some() && is_plain && is_known && is_index_known
}

/// The rows' nodes and buffers lie within the body. Arrow's reader checks that there are enough of them, and that they
/// are large enough.
fn check_batch(batch: RecordBatch<'_>, body: u64) -> bool {
    let rows = batch.length();
    // A row takes at least one bit.
    let are_rows_possible = u64::try_from(rows).is_ok_and(|rows| rows / 8 <= body);
    let nodes = batch
        .nodes()
        .is_some_and(|nodes| nodes.iter().all(|node| node.length() == rows && (0..=rows).contains(&node.null_count())));
    let buffers = batch.buffers().is_some_and(|buffers| {
        buffers.iter().all(|buffer| match (u64::try_from(buffer.offset()), u64::try_from(buffer.length())) {
            (Ok(offset), Ok(length)) => offset.checked_add(length).is_some_and(|end| end <= body),
            _ => false,
        })
    });
    are_rows_possible && nodes && buffers && batch.compression().is_none() && batch.variadicBufferCounts().is_none()
}
