//! Builds JFR chunks that no recorder writes, but that the format allows.

/// Ids of the classes that every chunk has.
pub const BYTE: u64 = 1;
pub const LONG: u64 = 2;
pub const STRING: u64 = 3;

/// A field: its name, the id of its class, whether it is a reference, and whether it is a list.
pub type Field = (&'static str, u64, bool, bool);

/// Constants: number and bytes of each.
pub type Constants = Vec<(u64, Vec<u8>)>;

pub struct Chunk {
    classes: Vec<(u64, String, Vec<Field>)>,
    /// Constants by class.
    pools: Vec<(u64, Constants)>,
    events: Vec<u8>,
}

pub fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

pub fn text(text: &str) -> Vec<u8> {
    [vec![3], varint(text.len() as u64), text.as_bytes().to_vec()].concat()
}

/// An event: its size (which includes the size field), its class, and its bytes.
fn sized(class: u64, bytes: &[u8]) -> Vec<u8> {
    let class = varint(class);
    let size = 5 + class.len() + bytes.len();
    let mut all: Vec<u8> = (0..4).map(|place| (size >> (7 * place)) as u8 | 0x80).collect();
    all.push((size >> 28) as u8);
    [all, class, bytes.to_vec()].concat()
}

impl Chunk {
    pub fn new() -> Chunk {
        let plain = [(BYTE, "byte"), (LONG, "long"), (STRING, "java.lang.String")];
        let classes = plain.into_iter().map(|(id, name)| (id, name.to_string(), Vec::new()));
        Chunk { classes: classes.collect(), pools: Vec::new(), events: Vec::new() }
    }

    pub fn class(&mut self, id: u64, name: &str, fields: Vec<Field>) {
        self.classes.push((id, name.to_string(), fields));
    }

    pub fn pool(&mut self, class: u64, constants: Constants) {
        self.pools.push((class, constants));
    }

    pub fn event(&mut self, class: u64, bytes: &[u8]) {
        self.events.extend(sized(class, bytes));
    }

    pub fn bytes(&self) -> Vec<u8> {
        // Header fields of a constant pool: start, duration, offset to the next, and whether it is a flush.
        let mut pools = [vec![0; 4], varint(self.pools.len() as u64)].concat();
        for (class, constants) in &self.pools {
            pools.extend([varint(*class), varint(constants.len() as u64)].concat());
            constants.iter().for_each(|(number, bytes)| pools.extend([varint(*number), bytes.clone()].concat()));
        }
        let pools = sized(1, &pools);
        let metadata = sized(0, &[vec![0; 3], self.metadata()].concat());
        let (pools_at, metadata_at) = (68 + self.events.len(), 68 + self.events.len() + pools.len());
        let size = metadata_at + metadata.len();
        let mut header = b"FLR\0\0\x02\0\0".to_vec();
        for word in [size as u64, pools_at as u64, metadata_at as u64, 1, 1, 1, 1_000_000_000] {
            header.extend(word.to_be_bytes());
        }
        header.extend([0; 4]);
        [header, self.events.clone(), pools, metadata].concat()
    }

    fn metadata(&self) -> Vec<u8> {
        let mut strings: Vec<String> = Vec::new();
        let mut number = |text: &str| {
            let place = strings.iter().position(|known| known == text).unwrap_or_else(|| {
                strings.push(text.to_string());
                strings.len() - 1
            });
            varint(place as u64)
        };
        let mut element = |name: &str, attributes: &[(&str, String)], children: &[Vec<u8>]| {
            let mut bytes = [number(name), varint(attributes.len() as u64)].concat();
            attributes.iter().for_each(|(key, value)| bytes.extend([number(key), number(value)].concat()));
            bytes.extend(varint(children.len() as u64));
            children.iter().for_each(|child| bytes.extend(child));
            bytes
        };
        let mut classes = Vec::new();
        for (id, name, fields) in &self.classes {
            let mut children = Vec::new();
            for (name, class, is_reference, is_list) in fields {
                let mut attributes = vec![("name", (*name).to_string()), ("class", class.to_string())];
                attributes.extend(is_reference.then(|| ("constantPool", "true".to_string())));
                attributes.extend(is_list.then(|| ("dimension", "1".to_string())));
                children.push(element("field", &attributes, &[]));
            }
            classes.push(element("class", &[("id", id.to_string()), ("name", name.clone())], &children));
        }
        let tree = element("metadata", &[], &classes);
        let root = element("root", &[], &[tree]);
        let strings: Vec<u8> =
            [varint(strings.len() as u64), strings.iter().flat_map(|string| text(string)).collect()].concat();
        [strings, root].concat()
    }
}
