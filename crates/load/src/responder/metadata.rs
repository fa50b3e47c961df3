//! Column metadata in answers (CQL v4, section 4.2.5.2).

/// Encodes metadata of result columns; of bind markers if the number of partition key columns is given.
pub(super) fn metadata(out: &mut Vec<u8>, keyspace: &str, table: &str, columns: &[(&str, Vec<u8>)], key: Option<u16>) {
    out.extend(1i32.to_be_bytes());
    out.extend((columns.len() as i32).to_be_bytes());
    if let Some(key) = key {
        out.extend(i32::from(key).to_be_bytes());
        (0..key).for_each(|position| out.extend(position.to_be_bytes()));
    }
    let string = |out: &mut Vec<u8>, text: &str| {
        out.extend((text.len() as u16).to_be_bytes());
        out.extend(text.as_bytes());
    };
    string(out, keyspace);
    string(out, table);
    for (name, typ) in columns {
        string(out, name);
        out.extend(typ);
    }
}

pub(super) fn type_id(name: &str) -> Vec<u8> {
    const NAMES: [(&str, u16); 18] = [
        ("ascii", 1),
        ("bigint", 2),
        ("blob", 3),
        ("boolean", 4),
        ("counter", 5),
        ("double", 7),
        ("float", 8),
        ("int", 9),
        ("timestamp", 0x0b),
        ("uuid", 0x0c),
        ("text", 0x0d),
        ("varchar", 0x0d),
        ("timeuuid", 0x0f),
        ("inet", 0x10),
        ("date", 0x11),
        ("time", 0x12),
        ("smallint", 0x13),
        ("tinyint", 0x14),
    ];
    NAMES.iter().find(|(known, _)| *known == name).map_or(3u16, |(_, id)| *id).to_be_bytes().to_vec()
}
