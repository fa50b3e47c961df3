//! Formats values in CQL for people.

use scylla::frame::response::result::{ColumnType, NativeType};
use std::fmt::Write;

const LONGEST_TEXT: usize = 40;
const LONGEST_BLOB: usize = 16;

/// A value in CQL notation, truncated if it is long.
pub(super) fn show(bytes: &[u8], typ: &ColumnType<'_>) -> String {
    match (typ, bytes) {
        (ColumnType::Native(NativeType::Text | NativeType::Ascii), _) => text(bytes),
        (ColumnType::Native(NativeType::TinyInt), [byte]) => (*byte as i8).to_string(),
        (ColumnType::Native(NativeType::Boolean), [byte]) => (*byte != 0).to_string(),
        (ColumnType::Native(NativeType::SmallInt), &[a, b]) => i16::from_be_bytes([a, b]).to_string(),
        (ColumnType::Native(NativeType::Float), &[a, b, c, d]) => f32::from_be_bytes([a, b, c, d]).to_string(),
        (ColumnType::Native(NativeType::Int), &[a, b, c, d]) => i32::from_be_bytes([a, b, c, d]).to_string(),
        (ColumnType::Native(native), &[a, b, c, d, e, f, g, h]) => match native {
            NativeType::Double => f64::from_be_bytes([a, b, c, d, e, f, g, h]).to_string(),
            NativeType::BigInt | NativeType::Counter | NativeType::Timestamp => {
                i64::from_be_bytes([a, b, c, d, e, f, g, h]).to_string()
            }
            _ => blob(bytes),
        },
        (ColumnType::Native(NativeType::Uuid | NativeType::Timeuuid), [..]) if bytes.len() == 16 => uuid(bytes),
        _ => blob(bytes),
    }
}

fn text(bytes: &[u8]) -> String {
    let whole = String::from_utf8_lossy(bytes);
    match whole.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("'{}…' of {} bytes", whole[..end].escape_debug(), bytes.len()),
        None => format!("'{}'", whole.escape_debug()),
    }
}

fn blob(bytes: &[u8]) -> String {
    let shown = hex(&bytes[..bytes.len().min(LONGEST_BLOB)]);
    match bytes.len() > LONGEST_BLOB {
        true => format!("0x{shown}… of {} bytes", bytes.len()),
        false => format!("0x{shown}"),
    }
}

fn uuid(bytes: &[u8]) -> String {
    [&bytes[..4], &bytes[4..6], &bytes[6..8], &bytes[8..10], &bytes[10..]].map(hex).join("-")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_look_as_in_cql() {
        let native = ColumnType::Native;
        let shown = [
            show(&7i64.to_be_bytes(), &native(NativeType::BigInt)),
            show(&(-7i32).to_be_bytes(), &native(NativeType::Int)),
            show(&1.5f64.to_be_bytes(), &native(NativeType::Double)),
            show(&[1], &native(NativeType::Boolean)),
            show(b"it\xc3\xa4's", &native(NativeType::Text)),
            show(&[b'x'; 100], &native(NativeType::Text)),
            show(&[1, 2, 3], &native(NativeType::Blob)),
            show(&[0xab; 100], &native(NativeType::Blob)),
            show(&[0x11; 16], &native(NativeType::Uuid)),
            show(&[], &native(NativeType::Int)),
        ];
        insta::assert_snapshot!(shown.join("\n"));
    }
}
