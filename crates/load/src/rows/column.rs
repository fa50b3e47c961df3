//! A column of a table and the source of its values.

use super::compound::Shaped;
use super::distribution::Distribution;
use super::java::ByteRandom;
use super::stream::Stream;
use super::value::{Value, ValueType, whole};
use scylla::routing::partitioner::{Murmur3Partitioner, Partitioner};

/// The default distribution of a column's values: 100 billion values, or 50 years in milliseconds.
const DEFAULT_IDENTITY: Distribution = Distribution::uniform(1, 100_000_000_000);
const DEFAULT_TIME: Distribution = Distribution::uniform(1, 50 * 365 * 86_400_000);
const DEFAULT_SIZE: Distribution = Distribution::uniform(4, 8);
/// The largest value in bytes, or collection in items, as for the values of a parameter.
const LARGEST_SIZE: i64 = 128 << 20;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// The name of the column and of its bind markers.
    pub name: String,
    pub role: Role,
    pub value_type: ValueType,
    /// A text whose hash is part of the seed, so that columns have different values.
    pub salt_text: String,
    pub(super) salt: i64,
    pub(super) identity: Distribution,
    pub(super) size: Distribution,
    /// The number of its values for each combination of values of the earlier columns.
    pub(super) cluster: Distribution,
    pub(super) given: Given,
    pub(super) shaped: Option<Shaped>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Partition,
    Clustering,
    Regular,
}

/// The settings of a column; missing settings have the defaults of cassandra-stress.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Given {
    pub population: Option<Distribution>,
    pub size: Option<Distribution>,
    pub cluster: Option<Distribution>,
}

impl Column {
    pub fn new(name: &str, role: Role, value_type: ValueType, salt_text: &str, given: Given) -> Column {
        let identity = match value_type {
            ValueType::Timestamp | ValueType::TimeUuid => DEFAULT_TIME,
            _ => DEFAULT_IDENTITY,
        };
        Column {
            name: name.to_string(),
            role,
            value_type,
            salt_text: salt_text.to_string(),
            // cassandra-stress uses the first half of the hash, which is the token.
            salt: Murmur3Partitioner.hash_one(salt_text.as_bytes()).value(),
            identity: given.population.unwrap_or(identity),
            size: given.size.unwrap_or(DEFAULT_SIZE),
            cluster: given.cluster.unwrap_or(Distribution::fixed(1)),
            given,
            shaped: None,
        }
    }

    /// Checks that its values fit into memory; the error says which setting is too large.
    pub(super) fn check(&self) -> Result<(), String> {
        let sized = matches!(self.value_type, ValueType::Text | ValueType::Blob | ValueType::Hex | ValueType::Compound);
        if sized && self.size.max > LARGEST_SIZE {
            return Err(format!("{}: `size` is at most {LARGEST_SIZE}", self.name));
        }
        if self.role != Role::Regular && self.value_type == ValueType::Compound {
            let name = &self.name;
            return Err(format!("{name}: a collection or type of your own can't be generated in the primary key"));
        }
        Ok(())
    }

    pub fn given(&self) -> Given {
        self.given
    }

    /// The random numbers from which the column's values are made, for a seed.
    pub(super) fn identity(&self, seed: i64) -> Stream {
        Stream::new(self.identity, seed ^ self.salt)
    }

    /// The only value of a column that is not clustering, for a seed.
    pub(super) fn only(&self, seed: i64) -> Value {
        match &self.shaped {
            Some(shaped) => self.compound(shaped, seed),
            None if self.value_type == ValueType::Compound => Value::bytes(Vec::new()),
            None => self.value(&mut self.identity(seed)),
        }
    }

    /// The number of values of a clustering column below a seed.
    pub(super) fn count(&self, seed: i64) -> i64 {
        Stream::new(self.cluster, seed ^ !self.salt).next()
    }

    /// The distinct values of a clustering column below a seed.
    pub(super) fn several(&self, seed: i64) -> Vec<Value> {
        let mut identity = self.identity(seed);
        match self.count(seed) {
            ..=1 => vec![self.value(&mut identity)],
            count => {
                let mut known = std::collections::HashSet::new();
                let values = (0..count).map(|_| self.value(&mut identity));
                values.filter(|value| known.insert(value.clone())).collect()
            }
        }
    }

    /// Makes the next value from the random numbers of a seed.
    pub(super) fn value(&self, identity: &mut Stream) -> Value {
        self.single(self.value_type, identity)
    }

    pub(super) fn single(&self, value_type: ValueType, identity: &mut Stream) -> Value {
        match value_type {
            ValueType::Text => {
                let mut text = self.content(identity);
                // A letter is made from 7 bits, shifted so that printable characters come first.
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

    /// 16 hexadecimal digits of each number, the lowest first; digits from ten on are the letters from `K` on.
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
