//! Values of collections, tuples, vectors and types of the user's own.

use super::stream::Stream;
use super::value::{Value, ValueType};
use super::{Column, MOST_VALUE_BYTES};
use std::collections::HashSet;
use std::sync::Arc;

/// What a compound value is made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Single(ValueType),
    List(Box<Shape>),
    Set(Box<Shape>),
    Map(Box<Shape>, Box<Shape>),
    /// A tuple, or the fields of a type.
    Fields(Vec<Shape>),
    Vector {
        of: Box<Shape>,
        dimensions: usize,
        /// Whether all items have one length, which the encoding then leaves out.
        sized: bool,
    },
}

/// A column whose values have a shape that the table's node has told.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shaped {
    pub shape: Arc<Shape>,
    /// How many single values come before it in the column's own value: 1 for a value of a map, after its key.
    pub skips: usize,
}

impl Column {
    /// Gives the column the type that the node has told.
    pub fn shape(&mut self, shape: Shape, skips: usize) {
        match shape {
            Shape::Single(value_type) if skips == 0 && self.value_type != ValueType::Compound => {
                self.value_type = value_type;
            }
            shape => self.shaped = Some(Shaped { shape: Arc::new(shape), skips }),
        }
    }

    /// The value of a compound column for a seed. The items of a set or list are those of cassandra-stress, which draws
    /// their number anew each time; here it is the same each time.
    pub(super) fn compound(&self, shaped: &Shaped, seed: i64) -> Value {
        let mut items = self.identity(seed.wrapping_mul(31));
        (0..shaped.skips).for_each(|_| _ = items.next());
        let mut making = Making { column: self, sizes: Stream::new(self.size, seed ^ self.salt), items, bytes: 0 };
        Value::bytes(making.cell(&shaped.shape))
    }
}

struct Making<'c> {
    column: &'c Column,
    /// The numbers of items.
    sizes: Stream,
    items: Stream,
    bytes: usize,
}

impl Making<'_> {
    /// A value in the encoding of CQL (CQL protocol, section 6), without its length.
    fn cell(&mut self, shape: &Shape) -> Vec<u8> {
        match shape {
            Shape::Single(value_type) => {
                let cell = self.column.single(*value_type, &mut self.items).cell;
                self.bytes += cell.len();
                cell
            }
            Shape::List(of) => self.several(&[of], false),
            Shape::Set(of) => self.several(&[of], true),
            Shape::Map(key, value) => self.several(&[key, value], true),
            Shape::Fields(fields) => {
                let mut out = Vec::new();
                fields.iter().for_each(|field| append(&mut out, &self.cell(field)));
                out
            }
            Shape::Vector { of, dimensions, sized } => {
                let mut out = Vec::new();
                for _ in 0..*dimensions {
                    let item = self.cell(of);
                    if !*sized {
                        vint(&mut out, item.len() as u64);
                    }
                    out.extend(item);
                }
                out
            }
        }
    }

    /// As many items as `size` draws, as long as the value stays within the most bytes.
    fn several(&mut self, parts: &[&Shape], distinct: bool) -> Vec<u8> {
        let wanted = self.sizes.next();
        let mut out = vec![0; size_of::<i32>()];
        let mut known = HashSet::new();
        let mut count: i32 = 0;
        for _ in 0..wanted {
            if self.bytes >= MOST_VALUE_BYTES {
                break;
            }
            self.bytes += size_of::<i32>();
            let item: Vec<Vec<u8>> = parts.iter().map(|part| self.cell(part)).collect();
            if !distinct || item.first().is_none_or(|first| known.insert(first.clone())) {
                item.iter().for_each(|part| append(&mut out, part));
                count += 1;
            }
        }
        out[..size_of::<i32>()].copy_from_slice(&count.to_be_bytes());
        out
    }
}

/// Appends a value with its length.
pub(crate) fn append(out: &mut Vec<u8>, cell: &[u8]) {
    out.extend((cell.len() as i32).to_be_bytes());
    out.extend(cell);
}

/// Appends a number as an unsigned variable-length integer: the leading ones of the first byte are the number of bytes
/// that follow.
fn vint(out: &mut Vec<u8>, number: u64) {
    let bits = u64::BITS - number.leading_zeros();
    let more = ((bits.max(1) - 1) / 7).min(8);
    let bytes = number.to_be_bytes();
    let rest = &bytes[bytes.len() - more as usize..];
    let head = if more < 8 { (number >> (8 * more)) as u8 } else { 0 };
    out.push(head | !(0xffu16 >> more) as u8);
    out.extend(rest);
}

#[cfg(test)]
mod tests {
    use super::super::{Distribution, Given, Role};
    use super::*;

    fn column(value_type: ValueType, size: i64) -> Column {
        let given = Given { size: Some(Distribution::fixed(size)), ..Given::default() };
        Column::new("tags", Role::Regular, value_type, "seed for stresstags", given)
    }

    fn made(shape: Shape, skips: usize) -> Vec<u8> {
        let mut column = column(ValueType::Compound, 3);
        column.shape(shape, skips);
        column.only(7).cell
    }

    /// The items of an encoded list, set or map.
    fn items(cell: &[u8]) -> Vec<Vec<u8>> {
        let mut rest = &cell[4..];
        let mut items = Vec::new();
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let length = i32::from_be_bytes(*length) as usize;
            items.push(after[..length].to_vec());
            rest = &after[length..];
        }
        items
    }

    #[test]
    fn items_are_those_that_the_seed_gives() {
        let int = || Box::new(Shape::Single(ValueType::Int));
        let list = made(Shape::List(int()), 0);
        assert_eq!(list[..4], 3i32.to_be_bytes());
        // The items' seed is 31 times that of the row, as in `Lists` and `Sets` of cassandra-stress.
        let single = column(ValueType::Int, 3);
        let mut stream = single.identity(7 * 31);
        let expected: Vec<Vec<u8>> = (0..3).map(|_| single.value(&mut stream).cell).collect();
        assert_eq!(items(&list), expected);
        assert_eq!(made(Shape::Set(int()), 0), list);
        // A map's first key and value are what `m[?] = ?` sets, and a set's first item is what CONTAINS looks for.
        let map = items(&made(Shape::Map(int(), int()), 0));
        assert_eq!(map.len(), 6);
        assert_eq!([made(*int(), 0), made(*int(), 1)], [map[0].clone(), map[1].clone()]);
        assert_eq!(made(*int(), 0), expected[0]);
    }

    #[test]
    fn tuples_and_vectors_have_their_encoding() {
        let byte = Shape::Single(ValueType::TinyInt);
        let pair = made(Shape::Fields(vec![byte.clone(), Shape::Single(ValueType::BigInt)]), 0);
        assert_eq!((pair.len(), pair[..4].to_vec(), pair[5..9].to_vec()), (17, vec![0, 0, 0, 1], vec![0, 0, 0, 8]));
        let vector = |of, sized| made(Shape::Vector { of: Box::new(of), dimensions: 4, sized }, 0);
        assert_eq!(vector(Shape::Single(ValueType::Float), true).len(), 16);
        let tagged = vector(byte, false);
        assert_eq!((tagged.len(), tagged[0], tagged[2]), (8, 1, 1));
    }

    #[test]
    fn lengths_have_the_encoding_of_cassandra() {
        let encoded = |number| {
            let mut out = Vec::new();
            vint(&mut out, number);
            out
        };
        // `VIntCoding` of Cassandra 5.0: the first byte's leading ones count the bytes that follow.
        assert_eq!(encoded(0), [0]);
        assert_eq!(encoded(127), [0x7f]);
        assert_eq!(encoded(128), [0x80, 0x80]);
        assert_eq!(encoded(16_383), [0xbf, 0xff]);
        assert_eq!(encoded(16_384), [0xc0, 0x40, 0x00]);
        assert_eq!(encoded(u64::MAX), [0xff; 9]);
    }

    #[test]
    fn no_value_grows_without_end() {
        let mut column = column(ValueType::Compound, 1 << 40);
        column.shape(Shape::List(Box::new(Shape::Single(ValueType::BigInt))), 0);
        assert!(column.only(1).cell.len() <= MOST_VALUE_BYTES + 12);
        let nested = Shape::List(Box::new(Shape::List(Box::new(Shape::Single(ValueType::Int)))));
        column.shape(nested, 0);
        assert!(column.only(1).cell.len() <= 2 * MOST_VALUE_BYTES);
    }
}
