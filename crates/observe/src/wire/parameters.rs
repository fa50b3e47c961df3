//! Parameters of a statement in QUERY, EXECUTE, BATCH and PREPARE: consistency, paging, keyspace.
//!
//! Source: Apache Cassandra, doc/native_protocol_v4.spec and doc/native_protocol_v5.spec, section 4.1.

use helenus_cassandra::cql::frame::{BodyReader, Malformed};

const VALUES: u32 = 0x01;
const PAGE_SIZE: u32 = 0x04;
const PAGING_STATE: u32 = 0x08;
const SERIAL_CONSISTENCY: u32 = 0x10;
const TIMESTAMP: u32 = 0x20;
const NAMES: u32 = 0x40;
const KEYSPACE: u32 = 0x80;
/// The keyspace of PREPARE, from version 5 on.
const KEYSPACE_TO_PREPARE_IN: u32 = 0x01;

/// The parameters that could be parsed; a long body is truncated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Parameters<'a> {
    pub(super) consistency: Option<&'static str>,
    pub(super) serial_consistency: Option<&'static str>,
    pub(super) is_further_page: bool,
    /// The most rows of a page; None if all rows are to come at once.
    pub(super) page_size: Option<i32>,
    /// The timestamp that the driver gave the request, in microseconds since the Unix epoch.
    pub(super) timestamp_us: Option<i64>,
    pub(super) keyspace: Option<&'a str>,
    /// The values, each a length and its bytes, and the bytes after them. Empty if there are no values, or if the
    /// values have names.
    pub(super) values: &'a [u8],
}

impl<'a> Parameters<'a> {
    pub(super) fn read(reader: &mut BodyReader<'a>, version: u8) -> Parameters<'a> {
        let mut parameters = Parameters::default();
        // If parsing fails, the fields read so far are kept.
        let _ = parameters.fill(reader, version);
        parameters
    }

    fn fill(&mut self, reader: &mut BodyReader<'a>, version: u8) -> Result<(), Malformed> {
        self.consistency = consistency(reader.short()?);
        let flags = flags(reader, version)?;
        self.is_further_page = flags & PAGING_STATE != 0;
        if flags & VALUES != 0 {
            if flags & NAMES == 0 {
                self.values = reader.rest().get(2..).unwrap_or_default();
            }
            values(reader, flags & NAMES != 0)?;
        }
        if flags & PAGE_SIZE != 0 {
            self.page_size = Some(reader.int()?).filter(|rows| *rows > 0);
        }
        if flags & PAGING_STATE != 0 {
            reader.bytes()?;
        }
        self.rest(reader, flags)
    }

    fn rest(&mut self, reader: &mut BodyReader<'a>, flags: u32) -> Result<(), Malformed> {
        if flags & SERIAL_CONSISTENCY != 0 {
            self.serial_consistency = consistency(reader.short()?);
        }
        if flags & TIMESTAMP != 0 {
            self.timestamp_us = reader.take(8)?.first_chunk().map(|bytes| i64::from_be_bytes(*bytes));
        }
        if flags & KEYSPACE != 0 {
            self.keyspace = Some(reader.text()?);
        }
        Ok(())
    }
}

/// Parses the parameters of a batch, which come after its statements. For each statement, calls back with the id if it
/// is prepared, and with its values and the bytes after them.
pub(super) fn batch<'a>(
    body: &'a [u8],
    version: u8,
    mut each: impl FnMut(Option<&'a [u8]>, &'a [u8]),
) -> Parameters<'a> {
    const PREPARED: u8 = 1;
    let mut parameters = Parameters::default();
    let mut read = || {
        let mut reader = BodyReader::new(body);
        reader.take(1)?;
        for _ in 0..reader.short()? {
            let id = match reader.take(1)? {
                [PREPARED] => Some(reader.short_bytes()?),
                _ => {
                    reader.bytes()?;
                    None
                }
            };
            each(id, reader.rest().get(2..).unwrap_or_default());
            values(&mut reader, false)?;
        }
        parameters.consistency = consistency(reader.short()?);
        let flags = flags(&mut reader, version)?;
        parameters.rest(&mut reader, flags)
    };
    let _: Result<(), Malformed> = read();
    parameters
}

/// The keyspace that PREPARE names after its statement.
pub(super) fn prepare_keyspace<'a>(reader: &mut BodyReader<'a>, version: u8) -> Option<&'a str> {
    let has_one = version >= 5 && flags(reader, version).ok()? & KEYSPACE_TO_PREPARE_IN != 0;
    if has_one { reader.text().ok() } else { None }
}

fn flags(reader: &mut BodyReader<'_>, version: u8) -> Result<u32, Malformed> {
    if version >= 5 { Ok(reader.int()?.cast_unsigned()) } else { Ok(u32::from(reader.take(1)?[0])) }
}

fn values(reader: &mut BodyReader<'_>, have_names: bool) -> Result<(), Malformed> {
    for _ in 0..reader.short()? {
        if have_names {
            reader.short_bytes()?;
        }
        reader.bytes()?;
    }
    Ok(())
}

fn consistency(code: u16) -> Option<&'static str> {
    const NAMES: [&str; 11] = [
        "ANY",
        "ONE",
        "TWO",
        "THREE",
        "QUORUM",
        "ALL",
        "LOCAL_QUORUM",
        "EACH_QUORUM",
        "SERIAL",
        "LOCAL_SERIAL",
        "LOCAL_ONE",
    ];
    NAMES.get(usize::from(code)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_behind_values_of_any_kind() {
        let body = [
            &[0, 4, 0x01 | 0x04 | 0x08 | 0x10 | 0x20][..],
            // A value, a null, and an unset value.
            &[0, 3, 0, 0, 0, 2, 7, 7, 255, 255, 255, 255, 255, 255, 255, 254],
            &[0, 0, 19, 136],
            &[0, 0, 0, 1, 9],
            &[0, 8],
            &1_700_000_000_000_001_i64.to_be_bytes(),
        ]
        .concat();
        let whole = Parameters::read(&mut BodyReader::new(&body), 4);
        let expected = Parameters {
            consistency: Some("QUORUM"),
            serial_consistency: Some("SERIAL"),
            is_further_page: true,
            page_size: Some(5000),
            timestamp_us: Some(1_700_000_000_000_001),
            keyspace: None,
            values: &body[5..],
        };
        assert_eq!(whole, expected);
        let cut = Parameters::read(&mut BodyReader::new(&body[..8]), 4);
        let before = Parameters { serial_consistency: None, page_size: None, timestamp_us: None, ..expected };
        assert_eq!(cut, Parameters { values: &body[5..8], ..before });
    }

    #[test]
    fn version_5_names_a_keyspace() {
        let body = [0, 1, 0, 0, 0, 0x80, 0, 2, b'k', b's'];
        assert_eq!(Parameters::read(&mut BodyReader::new(&body), 5).keyspace, Some("ks"));
        let prepare = [0, 0, 0, 1, 0, 2, b'k', b's'];
        assert_eq!(prepare_keyspace(&mut BodyReader::new(&prepare), 5), Some("ks"));
        assert_eq!(prepare_keyspace(&mut BodyReader::new(&prepare), 4), None);
    }
}
