//! Functions of a program or a library, from the symbol tables of its file.

use super::functions::{Function, Functions};
use helenus_cassandra::foreign::open_regular;
use object::read::ReadCache;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Where distributions install separate debug symbols.
const DEBUG_FILES: &str = "usr/lib/debug/.build-id";

/// The most bytes of a file that are read; a JVM's library with debug symbols has half of it.
const BYTES_AT_MOST: u64 = 1 << 30;
/// The most functions of a file; a JVM's library has some hundred thousand.
const FUNCTIONS_AT_MOST: usize = 4 << 20;
const NAMES_BYTES_AT_MOST: usize = 256 << 20;
/// The longest demangled name: substitutions, as in C++, let a short name expand to a very long one.
const LONGEST_NAME_BYTES: usize = 4 << 10;

/// A file whose code is mapped into a process.
#[derive(Debug, Default)]
pub(super) struct ElfSymbols {
    /// The functions, by their address in the file.
    functions: Functions,
    segments: Vec<Segment>,
}

/// A segment of the file, and the address that it is mapped to.
#[derive(Debug)]
struct Segment {
    offset: u64,
    bytes: u64,
    address: u64,
}

impl ElfSymbols {
    /// Reads a file's symbols. `root` is the root folder of the process. None if the file is no ELF file, or has no
    /// symbols.
    pub(super) fn read(path: &Path, root: &Path) -> Option<ElfSymbols> {
        let cache = ReadCache::new(Beginning::of(open_regular(path).ok()?));
        let file = object::File::parse(&cache).ok()?;
        let segments = file.segments().map(|segment| {
            let (offset, bytes) = segment.file_range();
            Segment { offset, bytes, address: segment.address() }
        });
        let segments = segments.collect();
        if file.symbol_table().is_some() {
            return Some(ElfSymbols { functions: functions(&file), segments });
        }
        let apart = file.build_id().ok().flatten().and_then(|id| debug_file(id, root)).and_then(|path| {
            let cache = ReadCache::new(Beginning::of(open_regular(&path).ok()?));
            object::File::parse(&cache).ok().map(|file| functions(&file))
        });
        // A stripped file still has its dynamic symbols.
        Some(ElfSymbols { functions: apart.unwrap_or_else(|| functions(&file)), segments })
    }

    /// The bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.functions.bytes() + self.segments.capacity() * size_of::<Segment>()
    }

    /// The demangled name of the function at an offset of the file.
    pub(super) fn name(&self, offset: u64) -> Option<String> {
        let segment = self
            .segments
            .iter()
            .find(|segment| offset.checked_sub(segment.offset).is_some_and(|within| within < segment.bytes))?;
        let address = segment.address.checked_add(offset - segment.offset)?;
        self.functions.name(address).map(demangled)
    }
}

fn debug_file(build_id: &[u8], root: &Path) -> Option<PathBuf> {
    let hex: String = build_id.iter().map(|byte| format!("{byte:02x}")).collect();
    let (folder, name) = hex.split_at_checked(2)?;
    let place = format!("{DEBUG_FILES}/{folder}/{name}.debug");
    [root, Path::new("/")].map(|root| root.join(&place)).into_iter().find(|path| path.exists())
}

/// A reader of a file up to a limit: it reports the end of the file there, and does not read more than the limit in
/// total.
#[derive(Debug)]
struct Beginning {
    file: File,
    left: u64,
}

impl Beginning {
    fn of(file: File) -> Beginning {
        Beginning { file, left: BYTES_AT_MOST }
    }
}

impl Read for Beginning {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(into)?;
        self.left = self.left.checked_sub(length as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(length)
    }
}

impl Seek for Beginning {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        Ok(self.file.seek(to)?.min(BYTES_AT_MOST))
    }
}

fn functions<'data>(file: &object::File<'data, &'data ReadCache<Beginning>>) -> Functions {
    let (mut text, mut functions) = (String::new(), Vec::new());
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let Ok(name) = symbol.name() else { continue };
        if symbol.kind() != SymbolKind::Text || !symbol.is_definition() || name.is_empty() {
            continue;
        }
        if functions.len() >= FUNCTIONS_AT_MOST || text.len() >= NAMES_BYTES_AT_MOST {
            break;
        }
        let from = text.len();
        text.push_str(name);
        let end = match symbol.size() {
            0 => 0,
            bytes => symbol.address().saturating_add(bytes),
        };
        functions.push(Function { start: symbol.address(), end, name: from..text.len() });
    }
    Functions::new(text, functions)
}

/// A writer that fails beyond a limit.
struct Shortened(String);

impl std::fmt::Write for Shortened {
    fn write_str(&mut self, more: &str) -> std::fmt::Result {
        if self.0.len() + more.len() > LONGEST_NAME_BYTES {
            return Err(std::fmt::Error);
        }
        self.0.push_str(more);
        Ok(())
    }
}

/// The demangled name without parameters; names of C stay as they are.
fn demangled(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        // Leave out the hash at the end of the name.
        let mut plain = Shortened(String::new());
        return if write!(plain, "{rust:#}").is_ok() { plain.0 } else { name.to_string() };
    }
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let mut plain = Shortened(String::new());
    let cpp = cpp_demangle::Symbol::new(name).ok();
    match cpp.map(|symbol| symbol.structured_demangle(&mut plain, &options)) {
        Some(Ok(())) => plain.0,
        _ => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_in_the_source() {
        assert_eq!(demangled("_ZN6Parker4parkEbl"), "Parker::park");
        assert_eq!(demangled("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
        assert_eq!(demangled("clock_gettime"), "clock_gettime");
    }

    #[test]
    fn a_name_that_stands_for_a_very_long_one_stays_as_it_is() {
        // Each step repeats the previous one twice, in ten characters.
        let steps = |steps: u32| {
            let step = |step| char::from_digit(step, 36).unwrap().to_ascii_uppercase();
            let pairs = (1..=steps).map(|before| format!("S0_IS{0}_S{0}_E", step(before)));
            format!("_Z1fISt4pairIiiE{}Evv", pairs.collect::<String>())
        };
        assert_eq!(
            demangled(&steps(1)),
            "f<std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int> > >"
        );
        assert_eq!(demangled(&steps(20)), steps(20), "20 MB otherwise");
    }

    #[test]
    fn of_a_file_without_end_only_the_beginning_is_read() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(200 << 30).unwrap();
        let mut beginning = Beginning::of(file);
        assert_eq!(beginning.seek(SeekFrom::End(0)).unwrap(), BYTES_AT_MOST);
        beginning.rewind().unwrap();
        beginning.left = 10;
        assert!(beginning.read(&mut [0; 11]).is_err());
    }

    #[test]
    fn a_file_that_is_none_has_no_symbols() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "\x7fELF and nothing more").unwrap();
        assert!(ElfSymbols::read(&path, Path::new("/")).is_none());
        assert!(ElfSymbols::read(folder.path(), Path::new("/")).is_none());
    }
}
