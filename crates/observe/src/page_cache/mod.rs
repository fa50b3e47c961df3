//! Disk reads of the watched processes into the page cache, by file. System calls don't show them: access to mapped
//! memory makes no call, and a call doesn't tell whether the kernel read from the disk.
//!
//! ```text
//! page taken into the cache ─▶ table of sums ─▶ rows ─▶ page_cache
//! ```

mod files;
mod records;
mod rows;

use crate::check::Check;
use crate::ebpf::{self, Programs, Unavailable};
use crate::error::Error;
use crate::option_values::Switch;
use crate::source::{Context, Running, Source};
use clap::Args;
use records::LOST_REASONS;
use rows::Rows;

const SOURCE: &str = "page_cache";

/// The tracepoint of a page that is added to the page cache.
const TAKEN: &str = "filemap/mm_filemap_add_to_page_cache";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct PageCacheOptions {
    /// Switched on together with system calls, which do not show whether the disk was read, and do not include reads of
    /// mapped files.
    #[arg(skip)]
    pub page_cache: Option<Switch>,
}

pub(crate) struct PageCache;

impl Source for PageCache {
    type Options = PageCacheOptions;

    fn start(
        &self,
        context: &Context<'_>,
        options: &PageCacheOptions,
        running: &mut Vec<Box<dyn Running>>,
    ) -> Result<(), Error> {
        if options.page_cache != Some(Switch::On) {
            return Ok(());
        }
        let note = "pages taken into the page cache, added up by file";
        let without = |missing: &Unavailable| {
            format!("what is read from disks, and through mappings, is not recorded: {missing}")
        };
        let worker = ebpf::follow_watched(context, SOURCE, note, without, |pids| {
            let mut programs = load()?;
            programs.attach_to(vec![ebpf::tracepoint(TAKEN)?], pids)?;
            Ok((programs, Rows::new(pids)))
        });
        if let Some(worker) = worker {
            running.push(Box::new(worker));
        }
        Ok(())
    }

    fn checks(&self) -> Vec<Check> {
        let what = "reads from disks by file, and through mappings";
        vec![Check::of(what, page_cache_available(), "eBPF: the kernel takes the program")]
    }
}

/// Whether reads into the page cache can be followed on this machine; loads the program without attaching it.
pub fn page_cache_available() -> Result<(), Unavailable> {
    ebpf::require()?;
    load()?;
    ebpf::tracepoint(TAKEN).map(drop)
}

fn load() -> Result<Programs, Unavailable> {
    let object = ebpf::load(ebpf::object!("page_cache"), |name, map| match name {
        ".rodata.settings" => map.set_initial_value(&records::settings()),
        _ => Ok(()),
    })?;
    Programs::new(object, &LOST_REASONS)
}
