use super::*;
use crate::generated::rows::{Row, Stall};
use crate::private::Folder;
use crate::stream::{EXTENSION, PART, Stream as Writer};
use crate::{BatchBuilder, TABLES};
use arrow::array::StringArray;
use arrow::ipc::writer::StreamWriter;
use std::io::Write;

const GROUPS: i64 = 12;
const ROWS: i64 = 9;
/// A time whose encoding contains no zero bytes.
const FIRST: i64 = 1_000_000;

/// Rows whose columns depend on each other, so that a test notices a row that was never written.
fn batch(group: i64) -> RecordBatch {
    let mut rows = BatchBuilder::new(Stall::TABLE);
    for number in group * ROWS..(group + 1) * ROWS {
        let node = format!("node {number}");
        let row = Stall {
            start_ns: FIRST + number,
            duration_ns: number * 7,
            side: "server",
            node: &node,
            kind: "watcher",
            ..Stall::default()
        };
        row.append_to(&mut rows);
    }
    rows.take().unwrap()
}

fn sealed() -> Vec<u8> {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    let mut writer = Writer::new(&TABLES[Stall::TABLE]).unwrap();
    for group in 0..GROUPS {
        assert!(writer.append(&batch(group), 0).unwrap());
        writer.flush(&folder).unwrap();
    }
    std::fs::read(place.path().join(TABLES[Stall::TABLE].name).join(format!("{PART}.{EXTENSION}"))).unwrap()
}

/// A stream as written by versions without checksums.
fn unsealed() -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &TABLES[Stall::TABLE].stream_schema()).unwrap();
    (0..GROUPS).for_each(|group| writer.write(&batch(group)).unwrap());
    std::mem::take(writer.get_mut())
}

/// Begin and end of each group.
fn groups(stream: &[u8]) -> Vec<(usize, usize)> {
    let mut groups = Vec::new();
    let mut at = 0;
    while at < stream.len() {
        let metadata = seal::metadata_length(&stream[at..]).unwrap() as usize;
        let seal_at = at + PREFIX_BYTES + metadata - seal::BYTES;
        let end = at + Seal::read(stream[seal_at..][..seal::BYTES].try_into().unwrap()).unwrap().length as usize;
        groups.push((at, end));
        at = end;
    }
    groups
}

/// Reads the numbers of all rows, and checks each row.
fn read_all(stream: &[u8]) -> (Vec<i64>, Option<Unread>) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(stream).unwrap();
    let mut numbers = Vec::new();
    let unread = read(&file, &TABLES[Stall::TABLE], |batch| {
        let times = batch.column(0).as_primitive::<Int64Type>();
        let durations = batch.column(1).as_primitive::<Int64Type>();
        let nodes = batch.column_by_name("node").unwrap();
        let nodes = nodes.as_dictionary::<arrow::datatypes::Int32Type>().downcast_dict::<StringArray>().unwrap();
        for (row, node) in nodes.into_iter().enumerate() {
            let number = times.value(row) - FIRST;
            assert_eq!((durations.value(row), node.unwrap()), (number * 7, format!("node {number}").as_str()));
            numbers.push(number);
        }
        Ok(())
    });
    (numbers, unread.unwrap())
}

/// SplitMix64, so that the mutations are always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }
}

fn mutate(stream: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(stream.len());
    let length = random.below(300).min(stream.len() - at);
    match random.below(8) {
        0 | 1 => stream[at] ^= 1 << random.below(8),
        2 => stream[at..at + length].fill(0),
        3 => stream[at..].fill(0),
        4 => stream.truncate(at),
        5 => drop(stream.drain(at..at + length)),
        6 => {
            let copy = stream[at..at + length].to_vec();
            let to = random.below(stream.len());
            stream.splice(to..to, copy);
        }
        _ => {
            let word = [0, 1, 0x7fff_ffff, u32::MAX, 1 << 31][random.below(5)].to_le_bytes();
            let at = at.min(stream.len().saturating_sub(4));
            stream.iter_mut().skip(at).zip(word).for_each(|(byte, with)| *byte = with);
        }
    }
}

#[test]
fn a_stream_is_read_as_it_was_written_and_by_any_reader_of_arrow() {
    for stream in [sealed(), unsealed()] {
        assert_eq!(read_all(&stream), ((0..GROUPS * ROWS).collect(), None));
        let rows: usize =
            StreamReader::try_new(Cursor::new(stream), None).unwrap().map(|rows| rows.unwrap().num_rows()).sum();
        assert_eq!(rows as i64, GROUPS * ROWS);
    }
}

#[test]
fn a_flipped_bit_costs_its_group_alone() {
    let whole = sealed();
    let groups = groups(&whole);
    let mut random = Random(1);
    for _ in 0..300 {
        let mut stream = whole.clone();
        let at = random.below(stream.len());
        stream[at] ^= 1 << random.below(8);
        let group = groups.iter().position(|(begin, end)| (*begin..*end).contains(&at)).unwrap();
        let (numbers, unread) = read_all(&stream);
        let unread = unread.unwrap();
        let bytes = groups[group].1 - groups[group].0;
        // The first group is the schema's, which this version knows.
        let lost = if group == 0 { 0..0 } else { (group as i64 - 1) * ROWS..group as i64 * ROWS };
        assert_eq!(unread.bytes, bytes as u64, "bit at {at}");
        assert!(!unread.is_cut || group == groups.len() - 1, "bit at {at}");
        if group < groups.len() - 1 {
            assert_eq!(unread.rows, Some(lost.clone().count() as u64), "bit at {at}");
        }
        assert!(numbers.into_iter().eq((0..GROUPS * ROWS).filter(|number| !lost.contains(number))), "bit at {at}");
    }
}

#[test]
fn a_tail_that_is_cut_or_zeros_gives_no_rows() {
    let whole = sealed();
    let groups = groups(&whole);
    let mut random = Random(2);
    for _ in 0..300 {
        let at = random.below(whole.len());
        let whole_groups = groups.iter().filter(|(_, end)| *end <= at).count();
        let rows = (whole_groups as i64 - 1).max(0) * ROWS;
        let begin = whole_groups.checked_sub(1).map_or(0, |last| groups[last].1);
        let (numbers, unread) = read_all(&whole[..at]);
        assert!(numbers.into_iter().eq(0..rows), "cut at {at}");
        assert_eq!(
            unread.map(|unread| (unread.bytes, unread.is_cut)),
            (at > begin).then_some(((at - begin) as u64, true))
        );

        let mut zeroed = whole.clone();
        zeroed[at..].fill(0);
        // Some of the streams ended with zeros before.
        let same = groups.iter().take_while(|(begin, end)| zeroed[*begin..*end] == whole[*begin..*end]).count();
        let Some(last) = same.checked_sub(1) else { continue };
        let (numbers, unread) = read_all(&zeroed);
        assert!(numbers.into_iter().eq(0..last as i64 * ROWS), "zeros from {at}");
        let left = whole.len() - groups[last].1;
        assert_eq!(unread.map(|unread| (unread.bytes, unread.is_cut)), (left > 0).then_some((left as u64, false)));
    }
}

#[test]
fn what_is_damaged_gives_only_rows_that_were_written() {
    let whole = sealed();
    let mut random = Random(3);
    for _ in 0..400 {
        let mut stream = whole.clone();
        for _ in 0..=random.below(4) {
            if !stream.is_empty() {
                mutate(&mut stream, &mut random);
            }
        }
        let (numbers, _) = read_all(&stream);
        assert!(numbers.is_sorted_by(|one, next| one < next), "none twice: {numbers:?}");
    }
}

/// Damaged streams with valid checksums, as an attacker could write them: reading neither panics nor allocates more
/// memory than the file has bytes.
#[test]
fn false_bytes_break_nothing() {
    let mut random = Random(4);
    for source in [sealed(), unsealed()] {
        for _ in 0..400 {
            let mut stream = source.clone();
            mutate(&mut stream, &mut random);
            seal_again(&mut stream);
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&stream).unwrap();
            let unread = read(&file, &TABLES[Stall::TABLE], |batch| {
                assert!(batch.num_rows() <= 8 * stream.len());
                Ok(())
            });
            assert!(unread.unwrap().is_none_or(|unread| unread.bytes <= stream.len() as u64));
        }
    }
}

fn seal_again(stream: &mut [u8]) {
    let found: Vec<usize> =
        (0..stream.len().saturating_sub(seal::BYTES)).filter(|at| stream[*at..].starts_with(&MAGIC)).collect();
    for at in found {
        let Some(seal) = stream.get(at..at + seal::BYTES).and_then(|bytes| Seal::read(bytes.try_into().ok()?)) else {
            continue;
        };
        let Some(begin) = at.checked_sub(seal.before as usize) else { continue };
        let Some(end) = begin.checked_add(seal.length as usize).filter(|end| *end <= stream.len()) else { continue };
        if end < at + seal::BYTES {
            continue;
        }
        let body = crc32fast::hash(&stream[at + seal::BYTES..end]);
        stream[at + 32..at + 36].copy_from_slice(&body.to_le_bytes());
        let head = crc32fast::hash(&stream[begin..at + 36]);
        stream[at + 36..at + 40].copy_from_slice(&head.to_le_bytes());
    }
}

#[test]
fn many_false_seals_end() {
    // Each copied seal claims to cover everything before it.
    let mut stream = Vec::new();
    while stream.len() < 100_000 {
        stream.extend([0xff; 4]);
        stream.extend(40u32.to_le_bytes());
        let begin = stream.len() - 8;
        stream.extend(MAGIC);
        stream.extend(8u32.to_le_bytes());
        stream.extend((100_000 - begin as u32).to_le_bytes());
        stream.extend([0; 20]);
        let head = crc32fast::hash(&stream[begin..]);
        stream.extend(head.to_le_bytes());
    }
    let (numbers, unread) = read_all(&stream);
    assert_eq!((numbers.len(), unread.unwrap().bytes), (0, stream.len() as u64));
}
