//! Functions of a program or a library, from the tables of symbols in its file.

use super::functions::{Function, Functions};
use object::read::ReadCache;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Where distributions put the symbols that they have stripped off their files.
const DEBUG_FILES: &str = "usr/lib/debug/.build-id";

/// A file that code is mapped from.
#[derive(Debug, Default)]
pub(super) struct ElfSymbols {
    /// By their addresses in the file's own terms.
    functions: Functions,
    segments: Vec<Segment>,
}

/// A stretch of the file, and the address that it is for.
#[derive(Debug)]
struct Segment {
    offset: u64,
    bytes: u64,
    address: u64,
}

impl ElfSymbols {
    /// Reads those of a file. `root` is where the process sees its files. None for one that is no such file, or without
    /// any symbols.
    pub(super) fn read(path: &Path, root: &Path) -> Option<ElfSymbols> {
        let cache = ReadCache::new(open_regular(path)?);
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
            let cache = ReadCache::new(open_regular(&path)?);
            object::File::parse(&cache).ok().map(|file| functions(&file))
        });
        // What is left in a stripped file are the names that others link to.
        Some(ElfSymbols { functions: apart.unwrap_or_else(|| functions(&file)), segments })
    }

    /// The function that a place in the file is in, as people write it.
    pub(super) fn name(&self, offset: u64) -> Option<String> {
        let segment = self
            .segments
            .iter()
            .find(|segment| offset.checked_sub(segment.offset).is_some_and(|within| within < segment.bytes))?;
        let address = segment.address.checked_add(offset - segment.offset)?;
        self.functions.name(address).map(demangled)
    }
}

/// A regular file. What another process names may as well be a pipe, which would be waited for.
pub(super) fn open_regular(path: &Path) -> Option<File> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

fn debug_file(build_id: &[u8], root: &Path) -> Option<PathBuf> {
    let hex: String = build_id.iter().map(|byte| format!("{byte:02x}")).collect();
    let (folder, name) = hex.split_at_checked(2)?;
    let place = format!("{DEBUG_FILES}/{folder}/{name}.debug");
    [root, Path::new("/")].map(|root| root.join(&place)).into_iter().find(|path| path.exists())
}

fn functions<'data>(file: &object::File<'data, &'data ReadCache<File>>) -> Functions {
    let (mut text, mut functions) = (String::new(), Vec::new());
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let Ok(name) = symbol.name() else { continue };
        if symbol.kind() != SymbolKind::Text || !symbol.is_definition() || name.is_empty() {
            continue;
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

/// The name in the source, without parameters; a name of C is one already.
fn demangled(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        // Without the hash at its end.
        return format!("{rust:#}");
    }
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let cpp = cpp_demangle::Symbol::new(name).ok();
    cpp.and_then(|symbol| symbol.demangle_with_options(&options).ok()).unwrap_or_else(|| name.to_string())
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
    fn a_file_that_is_none_has_no_symbols() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "\x7fELF and nothing more").unwrap();
        assert!(ElfSymbols::read(&path, Path::new("/")).is_none());
        assert!(ElfSymbols::read(folder.path(), Path::new("/")).is_none());
    }
}
