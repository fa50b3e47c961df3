//! The classes that a chunk's metadata declares, with the types of their fields.

use super::bytes::{ByteReader, Malformed};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The most bytes of metadata that are read. JVMs write some 100 kB; decoded, the metadata takes many times its size in
/// memory.
const LARGEST: usize = 8 << 20;
/// The deepest nesting of values and elements. A stack contains frames, and frames contain nothing more.
pub(super) const DEEPEST: usize = 8;

#[derive(Debug)]
pub(super) struct Class {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Byte,
    Varint,
    Float,
    Double,
    Text,
    /// Fields of zero bytes are left out: a file could declare any number of them at no cost.
    Object(Vec<Field>),
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) class: i64,
    /// Whether the value is in a constant pool.
    pub(super) is_reference: bool,
    pub(super) is_list: bool,
}

impl Kind {
    fn of(name: &str, fields: Vec<Field>) -> Kind {
        match name {
            "boolean" | "byte" => Kind::Byte,
            "char" | "short" | "int" | "long" => Kind::Varint,
            "float" => Kind::Float,
            "double" => Kind::Double,
            "java.lang.String" => Kind::Text,
            _ => Kind::Object(fields),
        }
    }

    /// Whether values of the class take no bytes.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Kind::Object(fields) if fields.is_empty())
    }
}

/// The classes by id.
pub(super) fn read(mut reader: ByteReader<'_>) -> Result<HashMap<i64, Class>, Malformed> {
    let (before, mut sized) = (reader.left, reader);
    let size = usize::try_from(sized.varint()?).ok().filter(|size| *size <= before.len());
    let size = size.ok_or(Malformed("metadata that is larger than the chunk"))?;
    if size > LARGEST {
        return Err(Malformed("more than 8 MiB of metadata, which no JVM writes"));
    }
    reader.left = &before[..size];
    // Decodes size, class, start, duration and number of an event.
    for _ in 0..5 {
        reader.varint()?;
    }
    let count = reader.count()?;
    let strings = (0..count).map(|_| reader.text()).collect::<Result<Vec<_>, _>>()?;
    let root = Element::read(&mut reader, &strings, 0)?;
    let metadata = root.children.iter().find(|child| child.name == "metadata");
    let mut classes = HashMap::new();
    for class in metadata.into_iter().flat_map(|metadata| &metadata.children).filter(|child| child.name == "class") {
        let fields = class.children.iter().filter(|child| child.name == "field").map(|field| Field {
            name: field.attribute("name").unwrap_or_default().to_string(),
            class: field.number("class").unwrap_or_default(),
            is_reference: field.attribute("constantPool") == Some("true"),
            is_list: field.number("dimension").unwrap_or_default() > 0,
        });
        let id = class.number("id").ok_or(Malformed("a class without a number"))?;
        let name = current_name(class.attribute("name").unwrap_or_default());
        let kind = Kind::of(&name, fields.collect());
        classes.insert(id, Class { id, name, kind });
    }
    leave_out_empty_fields(&mut classes);
    Ok(classes)
}

/// The name that JDK 11 and later have for a class; JDK 9 and 10 have another prefix.
fn current_name(name: &str) -> String {
    match name.strip_prefix("com.oracle.jdk.") {
        Some(event) => format!("jdk.{event}"),
        None => name.to_string(),
    }
}

/// Removes fields whose values take no bytes, so that the work per value is bounded by its size.
fn leave_out_empty_fields(classes: &mut HashMap<i64, Class>) {
    // The types that contain each type.
    let mut holders: HashMap<i64, Vec<i64>> = HashMap::new();
    let (mut filled, mut next) = (HashSet::new(), Vec::new());
    for class in classes.values() {
        match &class.kind {
            Kind::Object(fields) => {
                // Fields of undeclared classes can't be skipped, so decoding an object with such a field fails.
                let takes_bytes =
                    |field: &Field| field.is_reference || field.is_list || !classes.contains_key(&field.class);
                if fields.iter().any(takes_bytes) {
                    next.push(class.id);
                }
                fields.iter().for_each(|field| holders.entry(field.class).or_default().push(class.id));
            }
            _ => next.push(class.id),
        }
    }
    while let Some(id) = next.pop() {
        if filled.insert(id) {
            next.extend(holders.remove(&id).unwrap_or_default());
        }
    }
    let known: HashSet<i64> = classes.keys().copied().collect();
    for class in classes.values_mut() {
        if let Kind::Object(fields) = &mut class.kind {
            fields.retain(|field| {
                field.is_reference || field.is_list || filled.contains(&field.class) || !known.contains(&field.class)
            });
        }
    }
}

/// An element of the metadata, which is a tree.
struct Element<'s> {
    name: &'s str,
    attributes: Vec<(&'s str, &'s str)>,
    children: Vec<Element<'s>>,
}

impl<'s> Element<'s> {
    fn read(reader: &mut ByteReader<'_>, strings: &'s [Cow<'_, str>], depth: usize) -> Result<Element<'s>, Malformed> {
        if depth > DEEPEST {
            return Err(Malformed("metadata without end"));
        }
        let text = |reader: &mut ByteReader<'_>| {
            let number = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
            strings.get(number).map(|text| &**text).ok_or(Malformed("a string that is not in the metadata"))
        };
        let name = text(reader)?;
        let count = reader.count()?;
        let attributes =
            (0..count).map(|_| Ok((text(reader)?, text(reader)?))).collect::<Result<Vec<_>, Malformed>>()?;
        let count = reader.count()?;
        let children = (0..count).map(|_| Element::read(reader, strings, depth + 1)).collect::<Result<Vec<_>, _>>()?;
        Ok(Element { name, attributes, children })
    }

    fn attribute(&self, name: &str) -> Option<&'s str> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.attribute(name)?.parse().ok()
    }
}
