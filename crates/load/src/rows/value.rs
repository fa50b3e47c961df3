//! Single values, in the encoding of CQL.

/// The CQL type of generated values.
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
    /// A blob of hexadecimal digits, as the keys of `standard1` are.
    Hex,
    Uuid,
    TimeUuid,
    Timestamp,
    Date,
    Time,
    Inet,
    /// The constant 1h30m, because cassandra-stress makes none.
    Duration,
    /// A collection, tuple, vector or type of the user's own; the node tells which.
    Compound,
}

pub(super) const VALUE_TYPES: [(&str, ValueType); 20] = [
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
    ("duration", ValueType::Duration),
    ("compound", ValueType::Compound),
];

impl ValueType {
    /// The type with this CQL name; None if its values can't be generated.
    pub fn of_cql(name: &str) -> Option<ValueType> {
        let in_cql = |value_type| !matches!(value_type, ValueType::Hex | ValueType::Compound);
        let known = VALUE_TYPES.iter().find(|(known, value_type)| *known == name && in_cql(*value_type));
        known.map(|(_, value_type)| *value_type)
    }
}

/// A value, and the seed for the values that depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Value {
    /// The encoded value without its length.
    pub cell: Vec<u8>,
    link: Link,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Link {
    Number(i64),
    /// Hashes each byte of the value.
    Bytes,
}

impl Value {
    pub(super) fn number(number: i64, cell: &[u8]) -> Value {
        Value { cell: cell.to_vec(), link: Link::Number(number) }
    }

    pub(super) fn bytes(cell: Vec<u8>) -> Value {
        Value { cell, link: Link::Bytes }
    }

    /// The seed of values that depend on this value and on the origin of `seed`.
    pub fn seed(&self, seed: i64) -> i64 {
        let step = |seed: i64, part: i64| seed.wrapping_mul(31).wrapping_add(part);
        match self.link {
            Link::Number(number) => step(seed, number),
            Link::Bytes => self.cell.iter().fold(seed, |seed, byte| step(seed, i64::from(*byte as i8))),
        }
    }
}

/// A value made from one integer.
pub(super) fn whole(value_type: ValueType, number: i64, salt: i64) -> Value {
    match value_type {
        ValueType::TinyInt => Value::number((number as i8).into(), &(number as i8).to_be_bytes()),
        ValueType::SmallInt => Value::number((number as i16).into(), &(number as i16).to_be_bytes()),
        ValueType::Int => Value::number((number as i32).into(), &(number as i32).to_be_bytes()),
        ValueType::VarInt => Value::number(number, &varint(number)),
        // Without decimal places (CQL protocol, section 6.6).
        ValueType::Decimal => Value::number(number, &[&[0; 4][..], &varint(number)].concat()),
        // Days since the epoch, with the epoch in the middle of the range (section 6.5).
        ValueType::Date => Value::number((number as i32).into(), &((number as i32) ^ i32::MIN).to_be_bytes()),
        ValueType::Boolean => Value::bytes(vec![1]),
        ValueType::Inet => Value::bytes((number as i32).to_be_bytes().to_vec()),
        ValueType::Timestamp => Value::bytes(number.to_be_bytes().to_vec()),
        // Both halves of the UUID are the same number, so that they cancel each other out in the seed.
        ValueType::Uuid => Value::number(0, &[number.to_be_bytes(), number.to_be_bytes()].concat()),
        ValueType::TimeUuid => {
            let high = time_uuid(number);
            Value::number((high ^ salt as u64) as i64, &[high.to_be_bytes(), salt.to_be_bytes()].concat())
        }
        ValueType::Duration => Value::bytes(ONE_AND_A_HALF_HOURS.to_vec()),
        _ => Value::number(number, &number.to_be_bytes()),
    }
}

/// No months, no days and 5,400 s in ns, each as a variable-length integer (CQL protocol, section 6.8).
const ONE_AND_A_HALF_HOURS: [u8; 9] = [0, 0, 0xfc, 0x09, 0xd2, 0x92, 0x29, 0xe0, 0];

/// The fewest bytes that hold the number and its sign.
fn varint(number: i64) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let sign = if number < 0 { 0xff } else { 0 };
    let spare = bytes.windows(2).take_while(|pair| pair[0] == sign && (pair[1] ^ sign) < 0x80).count();
    bytes[spare..].to_vec()
}

/// The first half of a version 1 UUID for a time in ms since the epoch (RFC 9562, section 5.1).
fn time_uuid(time_ms: i64) -> u64 {
    let ticks = time_ms.wrapping_mul(10_000).wrapping_add(0x01b2_1dd2_1381_4000) as u64;
    (ticks << 32) | ((ticks >> 16) & 0xffff_0000) | ((ticks >> 48) & 0x0fff) | 0x1000
}
