//! What the watched processes have the kernel read from disks, by file: what mapped memory reads is no system call, and
//! whether a call reads from the disk it does not say.
//!
//! ```text
//! page taken into the cache ─▶ table of sums ─▶ reader ─▶ page_cache
//! ```

mod files;
mod reader;
mod records;

use crate::ebpf::{self, Missing, Programs};
use crate::names::ThreadNames;
use crate::{Event, Events, Watched};
use helenus_recording::{Recorder, SourceFacts};
use reader::Reader;
use records::LOST_REASONS;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

pub(crate) const SOURCE: &str = "page_cache";
pub(crate) const PROVIDER: &str = "ebpf";

/// A page is taken into the page cache.
const TAKEN: &str = "filemap/mm_filemap_add_to_page_cache";

/// Says whether reads of the page cache can be followed here, by loading the program without attaching it.
pub fn page_cache_available() -> Result<(), Missing> {
    ebpf::look()?;
    load()?;
    ebpf::tracepoint(TAKEN).map(drop)
}

fn load() -> Result<Programs<{ LOST_REASONS.len() }>, Missing> {
    let object = ebpf::load(ebpf::object!("page_cache"), |name, map| match name {
        ".rodata.settings" => map.set_initial_value(&records::settings()),
        _ => Ok(()),
    })?;
    Programs::new(object)
}

/// The running source.
#[derive(Debug)]
pub(crate) struct PageCache {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl PageCache {
    /// Begins to follow the processes. Where that can't be, every node is told to be without, and nothing runs.
    pub(crate) fn start(
        recorder: &Recorder,
        watched: &[Watched],
        names: &[ThreadNames],
        events: &Events,
    ) -> Option<PageCache> {
        let followed = ebpf::follow(SOURCE, watched, names, events);
        if followed.is_empty() {
            return None;
        }
        let nodes: Vec<String> = followed.iter().map(|(watched, _)| watched.node.clone()).collect();
        match PageCache::try_start(recorder, followed) {
            Ok(page_cache) => Some(page_cache),
            Err(missing) => {
                for node in nodes {
                    let reason = format!("what is read from disks, and through mappings, is not recorded: {missing}");
                    // The one who listened may have had enough.
                    let _ = events.send(Event::Degraded { node, source: SOURCE, reason });
                }
                None
            }
        }
    }

    fn try_start(recorder: &Recorder, followed: Vec<(Watched, ThreadNames)>) -> Result<PageCache, Missing> {
        ebpf::look()?;
        let mut programs = load()?;
        let pids: Vec<u32> = followed.iter().map(|(watched, _)| watched.pid).collect();
        programs.attach_to(vec![ebpf::tracepoint(TAKEN)?], &pids)?;
        let facts = followed.iter().map(|(watched, _)| SourceFacts {
            name: SOURCE.into(),
            node: watched.node.clone(),
            provider: PROVIDER.into(),
            note: "pages taken into the page cache, added up by file".into(),
        });
        let facts: Vec<SourceFacts> = facts.collect();
        let (stop, stopped) = channel();
        let recorder_there = recorder.clone();
        let thread = std::thread::Builder::new()
            .name(SOURCE.into())
            .spawn(move || Reader::new(recorder_there, followed, programs).run(&stopped))
            .map_err(|error| {
                Missing::new(format!("the reader could not start: {error}"), "look for limits on threads (ulimit -a)")
            })?;
        // A manifest that can't be written is what the rows of the recorder itself tell about.
        let _ = recorder.update_manifest(|manifest| manifest.sources.extend(facts));
        Ok(PageCache { stop, thread })
    }

    /// Takes the program off, after the last of what it added up is in the recording.
    pub(crate) fn stop(self) {
        drop(self.stop);
        // A panic in the reader has been printed; what it recorded is there.
        let _ = self.thread.join();
    }
}
