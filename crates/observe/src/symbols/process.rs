//! Names of a process's functions: of its program, its libraries, and code that it generated.

use super::elf::ElfSymbols;
use super::maps::{self, Mapping};
use super::perf_map::PerfMap;
use crate::bounded::{Kept, Room};
use helenus_cassandra::foreign::read_proc;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Shortest interval between two reads of the process's mappings and compiled code, for addresses that are in neither.
const REFRESH_EVERY: Duration = Duration::from_millis(250);
/// The most bytes of names by address that are kept: those of some 150,000 addresses.
const SYMBOLS: usize = 32 << 20;
/// The most bytes of the symbols of all files. A process can map any number of files; those beyond have no names.
const FILES: usize = 512 << 20;
/// The most bytes of the names of files.
const FILE_NAMES: usize = 16 << 20;

/// The function that an address belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) name: Rc<str>,
    /// Whether the process compiled the function at run time.
    pub(crate) compiled: bool,
}

pub(crate) struct ProcessSymbols {
    pid: u32,
    root: PathBuf,
    mappings: Vec<Mapping>,
    /// Symbols by device and inode; None if the file has none, or no room.
    files: Kept<String, Option<Rc<ElfSymbols>>>,
    room: Room,
    compiled: PerfMap,
    symbols: Kept<u64, Symbol>,
    refreshed: Option<Instant>,
}

impl ProcessSymbols {
    pub(crate) fn new(pid: u32) -> ProcessSymbols {
        ProcessSymbols {
            pid,
            root: PathBuf::from(format!("/proc/{pid}/root")),
            mappings: Vec::new(),
            files: Kept::new(FILE_NAMES),
            room: Room::new(FILES),
            compiled: PerfMap::default(),
            symbols: Kept::new(SYMBOLS),
            refreshed: None,
        }
    }

    /// The function that contains an address; if it has no name, the file or the kind of memory in brackets.
    pub(crate) fn symbol(&mut self, address: u64) -> Symbol {
        if let Some(symbol) = self.symbols.get(&address) {
            return symbol.clone();
        }
        let mut found = self.find(address);
        if found.is_none() {
            // A library may have been loaded, or a function compiled, since the last read.
            self.refresh();
            found = self.find(address);
        }
        let (symbol, may_be_named_later) = match (found, self.mapping(address)) {
            (Some(name), mapping) => {
                (Symbol { name: name.into(), compiled: mapping.is_some_and(Mapping::is_compiled) }, false)
            }
            (None, Some(mapping)) => {
                let compiled = mapping.is_compiled();
                (Symbol { name: mapping.label().into(), compiled }, compiled)
            }
            (None, None) => (Symbol { name: "[unknown]".into(), compiled: false }, true),
        };
        if !may_be_named_later {
            self.symbols.insert(address, symbol.clone(), symbol.name.len());
        }
        symbol
    }

    fn mapping(&self, address: u64) -> Option<&Mapping> {
        let after = self.mappings.partition_point(|mapping| mapping.start <= address);
        self.mappings.get(after.checked_sub(1)?).filter(|mapping| address < mapping.end)
    }

    fn find(&mut self, address: u64) -> Option<String> {
        let mapping = self.mapping(address)?.clone();
        let Some(file) = &mapping.file else {
            return self.compiled.name(address).map(str::to_string);
        };
        let symbols = match self.files.get(file) {
            Some(symbols) => symbols.clone(),
            None => {
                let paths = [mapping.by_range(self.pid), mapping.by_name(&self.root)];
                let symbols = paths.iter().find_map(|path| ElfSymbols::read(path, &self.root));
                let symbols = symbols.filter(|symbols| self.room.take(symbols.bytes())).map(Rc::new);
                self.files.insert(file.clone(), symbols.clone(), file.len());
                symbols
            }
        };
        symbols?.name(address - mapping.start + mapping.offset)
    }

    /// Reads what the process has mapped and compiled since the last call. Returns whether names of addresses may have
    /// changed.
    pub(crate) fn refresh(&mut self) -> bool {
        if self.refreshed.is_some_and(|refreshed| refreshed.elapsed() < REFRESH_EVERY) {
            return false;
        }
        self.refreshed = Some(Instant::now());
        let mappings = maps::parse(&read_proc(format!("/proc/{}/maps", self.pid)).unwrap_or_default());
        // A process that has ended has no mappings any more, but its last samples still need names.
        let moved = !mappings.is_empty() && mappings != self.mappings;
        if moved {
            self.mappings = mappings;
        }
        let changed = self.compiled.refresh(self.pid) || moved;
        if changed {
            self.symbols.clear();
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_knows_its_own_functions() {
        let mut symbols = ProcessSymbols::new(std::process::id());
        let here = this_process_knows_its_own_functions as *const () as u64;
        let own = symbols.symbol(here);
        assert!(own.name.ends_with("this_process_knows_its_own_functions"), "{own:?}");
        assert!(!own.compiled);
        assert_eq!(&*symbols.symbol(1).name, "[unknown]");
        let libc = symbols.symbol(libc::getpid as *const () as u64);
        assert!(libc.name.contains("getpid"), "{libc:?}");
    }
}
