//! Single values in the encoding of CQL (CQL protocol, section 6).

use super::bind::Shape;
use crate::draw::{Draw, mix};
use scylla::serialize::writers::{CellOverflowError, CellWriter};

/// Encodes an integer. It is known to fit the type, so no bits are lost.
pub(super) fn write_integer(whole: i64, shape: Shape, writer: CellWriter<'_>) -> Result<(), CellOverflowError> {
    match shape {
        Shape::TinyInt => writer.set_value(&(whole as i8).to_be_bytes()),
        Shape::SmallInt => writer.set_value(&(whole as i16).to_be_bytes()),
        Shape::Int => writer.set_value(&(whole as i32).to_be_bytes()),
        Shape::Float => writer.set_value(&(whole as f32).to_be_bytes()),
        Shape::Double => writer.set_value(&(whole as f64).to_be_bytes()),
        _ => writer.set_value(&whole.to_be_bytes()),
    }
    .map(drop)
}

pub(super) fn write_key(
    key: u64,
    shape: Shape,
    prefix: &str,
    size_bytes: usize,
    writer: CellWriter<'_>,
) -> Result<(), CellOverflowError> {
    match shape {
        Shape::Boolean => writer.set_value(&[(key & 1) as u8]),
        Shape::Uuid => writer.set_value(&uuid(mix(key), mix(!key), 4)),
        Shape::Text => {
            let mut digits = [0; 20];
            let digits = decimal(key, &mut digits);
            let mut cell = writer.into_value_builder();
            cell.append_bytes(prefix.as_bytes());
            for _ in prefix.len() + digits.len()..size_bytes {
                cell.append_bytes(b"0");
            }
            cell.append_bytes(digits);
            cell.finish()
        }
        Shape::Blob => {
            let mut cell = writer.into_value_builder();
            cell.append_bytes(&key.to_be_bytes());
            for _ in 8..size_bytes {
                cell.append_bytes(&[0]);
            }
            cell.finish()
        }
        _ => return write_integer(key as i64, shape, writer),
    }
    .map(drop)
}

pub(super) fn write_time(
    time_ns: i64,
    shape: Shape,
    draw: &mut Draw,
    writer: CellWriter<'_>,
) -> Result<(), CellOverflowError> {
    match shape {
        // Days since the epoch, with the epoch in the middle of the range (CQL protocol, section 6.5 "date").
        Shape::Date => {
            let days = time_ns.div_euclid(86_400_000_000_000) + (1 << 31);
            writer.set_value(&(days as u32).to_be_bytes())
        }
        // Version 1 UUIDs count units of 100 ns from 15 October 1582 (RFC 9562, section 5.1).
        Shape::TimeUuid => {
            let ticks = (time_ns.div_euclid(100) + 0x01b2_1dd2_1381_4000) as u64;
            let high = (ticks << 32) | ((ticks >> 16) & 0xffff_0000) | ((ticks >> 48) & 0x0fff);
            writer.set_value(&uuid(high, draw.next(), 1))
        }
        _ => writer.set_value(&time_ns.div_euclid(1_000_000).to_be_bytes()),
    }
    .map(drop)
}

fn uuid(high: u64, low: u64, version: u64) -> [u8; 16] {
    let high = (high & !0xf000) | (version << 12);
    let low = (low & (u64::MAX >> 2)) | (1 << 63);
    ((u128::from(high) << 64) | u128::from(low)).to_be_bytes()
}

fn decimal(mut number: u64, buffer: &mut [u8; 20]) -> &[u8] {
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &buffer[at..];
        }
    }
}
