//! Types and values of result rows (native protocol v4, sections 4.2.5.2 and 6).

use std::fmt;
use std::net::IpAddr;

use super::frame::{BodyReader, Malformed};

/// A column's type as the server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// A simple type by its option id.
    Simple(u16),
    /// A type known only by its Java class.
    Custom(String),
    List(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>, Box<Type>),
    Tuple(Vec<Type>),
    UserDefined(Vec<(String, Type)>),
}

impl Type {
    /// The bytes that it points to in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let of = |inner: &Type| size_of::<Type>() + inner.bytes();
        match self {
            Type::Simple(_) => 0,
            Type::Custom(class) => class.len(),
            Type::List(item) | Type::Set(item) => of(item),
            Type::Map(key, value) => of(key) + of(value),
            Type::Tuple(parts) => parts.iter().map(of).sum(),
            Type::UserDefined(fields) => {
                fields.iter().map(|(name, field)| size_of::<String>() + name.len() + of(field)).sum()
            }
        }
    }
}

/// One value. Types without a variant keep their bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Text(String),
    Bool(bool),
    /// tinyint, smallint, int, bigint, counter, and timestamp (ms since the Unix epoch).
    Integer(i64),
    Double(f64),
    Uuid([u8; 16]),
    Inet(IpAddr),
    /// Lists and sets.
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Bytes(Vec<u8>),
}

impl Value {
    /// The text of a text, or nothing.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Formats as cqlsh does; bytes in hexadecimal.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Text(text) => f.write_str(text),
            Value::Bool(value) => value.fmt(f),
            Value::Integer(value) => value.fmt(f),
            Value::Double(value) => value.fmt(f),
            Value::Uuid(bytes) => {
                for (at, byte) in bytes.iter().enumerate() {
                    if matches!(at, 4 | 6 | 8 | 10) {
                        f.write_str("-")?;
                    }
                    write!(f, "{byte:02x}")?;
                }
                Ok(())
            }
            Value::Inet(ip) => ip.fmt(f),
            Value::List(values) => {
                f.write_str("[")?;
                for (at, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Value::Map(entries) => {
                f.write_str("{")?;
                for (at, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            Value::Bytes(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

/// The deepest nesting of types that is read; the server allows far less.
const DEEPEST: usize = 32;
/// The most parts of a type. Each takes 2 bytes of an answer, and many times that in memory.
const MOST_PARTS: usize = 1 << 14;

/// A type, as an `[option]`.
///
/// # Errors
/// [`Malformed`] for an invalid type, one that nests too deep, or one of too many parts.
pub fn read_type(reader: &mut BodyReader<'_>) -> Result<Type, Malformed> {
    read_type_at(reader, 0, &mut 0)
}

fn read_type_at(reader: &mut BodyReader<'_>, depth: usize, parts: &mut usize) -> Result<Type, Malformed> {
    if depth > DEEPEST {
        return Err(Malformed("a type nests too deep"));
    }
    *parts += 1;
    if *parts > MOST_PARTS {
        return Err(Malformed("a type of more than 16,384 parts"));
    }
    let mut inner = |reader: &mut BodyReader<'_>| read_type_at(reader, depth + 1, parts);
    Ok(match reader.short()? {
        0x0000 => Type::Custom(reader.string()?),
        0x0020 => Type::List(Box::new(inner(reader)?)),
        0x0021 => Type::Map(Box::new(inner(reader)?), Box::new(inner(reader)?)),
        0x0022 => Type::Set(Box::new(inner(reader)?)),
        0x0030 => {
            let (_keyspace, _name, fields) = (reader.string()?, reader.string()?, reader.short()?);
            let fields = (0..fields).map(|_| Ok((reader.string()?, inner(reader)?)));
            Type::UserDefined(fields.collect::<Result<_, Malformed>>()?)
        }
        0x0031 => {
            let parts = reader.short()?;
            Type::Tuple((0..parts).map(|_| inner(reader)).collect::<Result<_, _>>()?)
        }
        id => Type::Simple(id),
    })
}

/// A value by its type; none for null.
///
/// # Errors
/// [`Malformed`] when the bytes are not of that type.
pub fn read_value(bytes: Option<&[u8]>, of: &Type) -> Result<Value, Malformed> {
    let Some(bytes) = bytes else { return Ok(Value::Null) };
    let mut reader = BodyReader::new(bytes);
    Ok(match of {
        Type::List(item) | Type::Set(item) => {
            let count = reader.int()?;
            Value::List((0..count).map(|_| read_value(reader.bytes()?, item)).collect::<Result<_, _>>()?)
        }
        Type::Map(key, value) => {
            let count = reader.int()?;
            let entry = |_| Ok((read_value(reader.bytes()?, key)?, read_value(reader.bytes()?, value)?));
            Value::Map((0..count).map(entry).collect::<Result<_, Malformed>>()?)
        }
        Type::Simple(id) => read_simple(bytes, *id)?,
        Type::Custom(_) | Type::Tuple(_) | Type::UserDefined(_) => Value::Bytes(bytes.to_owned()),
    })
}

fn read_simple(bytes: &[u8], id: u16) -> Result<Value, Malformed> {
    // An empty value is legal for most types and means neither null nor zero.
    if bytes.is_empty() && !matches!(id, 0x0001 | 0x000A | 0x000D) {
        return Ok(Value::Bytes(Vec::new()));
    }
    let wrong = |_| Malformed("a value has the wrong length");
    Ok(match id {
        0x0001 | 0x000A | 0x000D => {
            Value::Text(String::from_utf8(bytes.to_owned()).map_err(|_| Malformed("a text is not UTF-8"))?)
        }
        0x0002 | 0x0005 | 0x000B => Value::Integer(i64::from_be_bytes(bytes.try_into().map_err(wrong)?)),
        0x0004 => Value::Bool(bytes != [0]),
        0x0007 => Value::Double(f64::from_be_bytes(bytes.try_into().map_err(wrong)?)),
        0x0008 => Value::Double(f32::from_be_bytes(bytes.try_into().map_err(wrong)?).into()),
        0x0009 => Value::Integer(i32::from_be_bytes(bytes.try_into().map_err(wrong)?).into()),
        0x000C | 0x000F => Value::Uuid(bytes.try_into().map_err(wrong)?),
        0x0010 => match bytes.len() {
            4 => Value::Inet(IpAddr::from(<[u8; 4]>::try_from(bytes).map_err(wrong)?)),
            _ => Value::Inet(IpAddr::from(<[u8; 16]>::try_from(bytes).map_err(wrong)?)),
        },
        0x0013 => Value::Integer(i16::from_be_bytes(bytes.try_into().map_err(wrong)?).into()),
        0x0014 => Value::Integer(i8::from_be_bytes(bytes.try_into().map_err(wrong)?).into()),
        _ => Value::Bytes(bytes.to_owned()),
    })
}
