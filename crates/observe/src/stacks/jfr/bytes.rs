//! Decodes the basic types of JFR from the front of untrusted bytes.

use std::borrow::Cow;

/// The bytes do not conform to the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a JFR recording, or a broken one: {0}")]
pub struct Malformed(pub &'static str);

/// A string: written inline, or a reference to the constant pool.
pub(super) enum Text<'a> {
    Null,
    Inline(Cow<'a, str>),
    Constant(i64),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ByteReader<'a> {
    pub(super) left: &'a [u8],
}

impl<'a> ByteReader<'a> {
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, left) = self.left.split_at_checked(count).ok_or(Malformed("it ends early"))?;
        self.left = left;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }

    /// Decodes a variable-length integer: seven bits a byte, the lowest first; a ninth byte has eight.
    pub(super) fn varint(&mut self) -> Result<i64, Malformed> {
        let mut value = 0u64;
        for place in 0..9 {
            let byte = self.byte()?;
            if place == 8 {
                return Ok((value | u64::from(byte) << 56).cast_signed());
            }
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                break;
            }
        }
        Ok(value.cast_signed())
    }

    /// Decodes a number of following items, each of which takes at least one byte.
    pub(super) fn count(&mut self) -> Result<usize, Malformed> {
        match usize::try_from(self.varint()?) {
            Ok(count) if count <= self.left.len() => Ok(count),
            _ => Err(Malformed("it announces more than follows")),
        }
    }

    pub(super) fn string(&mut self) -> Result<Text<'a>, Malformed> {
        Ok(match self.byte()? {
            0 => Text::Null,
            1 => Text::Inline(Cow::Borrowed("")),
            2 => Text::Constant(self.varint()?),
            3 => {
                let length = self.count()?;
                Text::Inline(String::from_utf8_lossy(self.take(length)?))
            }
            4 => {
                let count = self.count()?;
                let units = (0..count).map(|_| self.varint().map(|unit| unit as u16)).collect::<Result<Vec<_>, _>>()?;
                Text::Inline(Cow::Owned(String::from_utf16_lossy(&units)))
            }
            5 => {
                let length = self.count()?;
                Text::Inline(Cow::Owned(self.take(length)?.iter().map(|byte| char::from(*byte)).collect()))
            }
            _ => return Err(Malformed("a string of an unknown kind")),
        })
    }

    /// Skips a string without decoding it.
    pub(super) fn skip_string(&mut self) -> Result<(), Malformed> {
        match self.byte()? {
            0 | 1 => {}
            2 => drop(self.varint()?),
            3 | 5 => {
                let length = self.count()?;
                self.take(length)?;
            }
            4 => {
                for _ in 0..self.count()? {
                    self.varint()?;
                }
            }
            _ => return Err(Malformed("a string of an unknown kind")),
        }
        Ok(())
    }

    /// An inline string, as in the metadata.
    pub(super) fn text(&mut self) -> Result<Cow<'a, str>, Malformed> {
        match self.string()? {
            Text::Null => Ok(Cow::Borrowed("")),
            Text::Inline(text) => Ok(text),
            Text::Constant(_) => Err(Malformed("a string of the metadata is in a constant pool")),
        }
    }
}

pub(super) fn long_at(bytes: &[u8], at: usize) -> Result<i64, Malformed> {
    let eight = bytes.get(at..).and_then(|bytes| bytes.first_chunk()).ok_or(Malformed("it ends early"))?;
    Ok(i64::from_be_bytes(*eight))
}
