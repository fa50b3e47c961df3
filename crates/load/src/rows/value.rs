//! Single values: what a column makes of the numbers of its distributions, in the encoding of CQL.

use super::column::Column;
use super::java::ByteRandom;
use super::stream::Stream;

/// What values are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueType {
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    VarInt,
    Float,
    Double,
    Decimal,
    Boolean,
    Text,
    Blob,
    /// Digits of hexadecimal numbers in a blob, as the keys of `standard1` are.
    Hex,
    Uuid,
    TimeUuid,
    Timestamp,
    Date,
    Time,
    Inet,
}

pub(super) const VALUE_TYPES: [(&str, ValueType); 18] = [
    ("tinyint", ValueType::TinyInt),
    ("smallint", ValueType::SmallInt),
    ("int", ValueType::Int),
    ("bigint", ValueType::BigInt),
    ("varint", ValueType::VarInt),
    ("float", ValueType::Float),
    ("double", ValueType::Double),
    ("decimal", ValueType::Decimal),
    ("boolean", ValueType::Boolean),
    ("text", ValueType::Text),
    ("blob", ValueType::Blob),
    ("hex", ValueType::Hex),
    ("uuid", ValueType::Uuid),
    ("timeuuid", ValueType::TimeUuid),
    ("timestamp", ValueType::Timestamp),
    ("date", ValueType::Date),
    ("time", ValueType::Time),
    ("inet", ValueType::Inet),
];

/// A value, and what the seed of the values below it is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Value {
    /// As it stands in a request, without its length.
    pub cell: Vec<u8>,
    link: Link,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Link {
    Number(i64),
    /// Each byte of the cell.
    Bytes,
}

impl Value {
    fn number(number: i64, cell: &[u8]) -> Value {
        Value { cell: cell.to_vec(), link: Link::Number(number) }
    }

    fn bytes(cell: Vec<u8>) -> Value {
        Value { cell, link: Link::Bytes }
    }

    /// The seed of what depends on this value and on what `seed` came from.
    pub fn seed(&self, seed: i64) -> i64 {
        let step = |seed: i64, part: i64| seed.wrapping_mul(31).wrapping_add(part);
        match self.link {
            Link::Number(number) => step(seed, number),
            Link::Bytes => self.cell.iter().fold(seed, |seed, byte| step(seed, i64::from(*byte as i8))),
        }
    }
}

impl Column {
    /// The next value, from the numbers of a seed.
    pub(super) fn value(&self, identity: &mut Stream) -> Value {
        match self.value_type {
            ValueType::Text => {
                let mut text = self.content(identity);
                // From 7 bits each, with the printable ones first.
                text.iter_mut().for_each(|byte| *byte = byte.wrapping_add(32) & 127);
                Value::bytes(text)
            }
            ValueType::Blob => Value::bytes(self.content(identity)),
            ValueType::Hex => Value::bytes(self.digits(identity)),
            ValueType::Double => {
                let real = identity.next_real();
                Value::number(real as i64, &real.to_be_bytes())
            }
            ValueType::Float => {
                let real = identity.next_real() as f32;
                Value::number(real as i64, &real.to_be_bytes())
            }
            other => whole(other, identity.next(), self.salt),
        }
    }

    fn size(&self, seed: i64) -> usize {
        usize::try_from(Stream::new(self.size, seed).next()).unwrap_or(0)
    }

    fn content(&self, identity: &mut Stream) -> Vec<u8> {
        let seed = identity.next();
        ByteRandom::new(!seed).bytes(self.size(seed))
    }

    /// 16 digits of each number, the lowest first; those from ten on are the letters from `K` on.
    fn digits(&self, identity: &mut Stream) -> Vec<u8> {
        let size = self.size(identity.next());
        let mut digits = Vec::with_capacity(size);
        while digits.len() < size {
            let number = identity.next();
            digits.extend((0..16.min(size - digits.len())).map(|place| match (number >> (4 * place) & 15) as u8 {
                digit @ 0..10 => b'0' + digit,
                digit => b'A' + digit,
            }));
        }
        digits
    }
}

/// A value of a type that is made of one whole number.
fn whole(value_type: ValueType, number: i64, salt: i64) -> Value {
    match value_type {
        ValueType::TinyInt => Value::number((number as i8).into(), &(number as i8).to_be_bytes()),
        ValueType::SmallInt => Value::number((number as i16).into(), &(number as i16).to_be_bytes()),
        ValueType::Int => Value::number((number as i32).into(), &(number as i32).to_be_bytes()),
        ValueType::VarInt => Value::number(number, &varint(number)),
        // Without digits behind the point (CQL protocol, section 6.6).
        ValueType::Decimal => Value::number(number, &[&[0; 4][..], &varint(number)].concat()),
        // Days since the epoch, with the epoch in the middle of the range (section 6.5).
        ValueType::Date => Value::number((number as i32).into(), &((number as i32) ^ i32::MIN).to_be_bytes()),
        ValueType::Boolean => Value::bytes(vec![1]),
        ValueType::Inet => Value::bytes((number as i32).to_be_bytes().to_vec()),
        ValueType::Timestamp => Value::bytes(number.to_be_bytes().to_vec()),
        // Both halves are the same number, so that they cancel each other out in the seed.
        ValueType::Uuid => Value::number(0, &[number.to_be_bytes(), number.to_be_bytes()].concat()),
        ValueType::TimeUuid => {
            let high = time_uuid(number);
            Value::number((high ^ salt as u64) as i64, &[high.to_be_bytes(), salt.to_be_bytes()].concat())
        }
        _ => Value::number(number, &number.to_be_bytes()),
    }
}

/// As few bytes as hold the number and its sign.
fn varint(number: i64) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let sign = if number < 0 { 0xff } else { 0 };
    let spare = bytes.windows(2).take_while(|pair| pair[0] == sign && (pair[1] ^ sign) < 0x80).count();
    bytes[spare..].to_vec()
}

/// The first half of a version 1 UUID of a time in ms since the epoch (RFC 9562, section 5.1).
fn time_uuid(time_ms: i64) -> u64 {
    let ticks = time_ms.wrapping_mul(10_000).wrapping_add(0x01b2_1dd2_1381_4000) as u64;
    (ticks << 32) | ((ticks >> 16) & 0xffff_0000) | ((ticks >> 48) & 0x0fff) | 0x1000
}
