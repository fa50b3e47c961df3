//! The writer of a kept recording: begins segments, closes the previous one in the background, and deletes the oldest.

use super::{Kept, SEGMENTS, begin_of, name_of, names, segment};
use crate::manifest::{Manifest, State};
use crate::private::{Folder, SET_ASIDE};
use crate::recorder::{Recorder, Summary, Waiting};
use crate::{Clock, Error, Recording, salvage};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The longest and the shortest time that a segment is written, whatever is to be kept.
const LONGEST: Duration = Duration::from_secs(60);
const SHORTEST: Duration = Duration::from_secs(10);
/// Number of segments in the time that is kept, and in the size that is kept.
const PARTS: u32 = 30;
const PARTS_OF_SIZE: u64 = 8;
/// The most segments that may wait to be closed. If the disk is that slow, no further segment begins.
const MOST_CLOSING: usize = 2;
/// If a segment could not be begun, the previous one continues for this time.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// If the wall clock was set by more than this, later segments have a new clock offset.
const SAME_CLOCK_NS: i64 = 1_000_000_000;
/// A segment's name begins with this while it is deleted, so that no reader opens it.
const DELETED: &str = "deleted";

/// Age and size of a segment.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Its begin on CLOCK_MONOTONIC. That of a segment of another boot is by the wall clock, and may be wrong.
    begin_ns: i64,
    /// Bytes that it takes on the disk.
    bytes: u64,
}

/// Writes a kept recording, one segment after the other.
#[derive(Debug)]
pub struct Keeper {
    pub(super) folder: Folder,
    _lock: File,
    manifest: Manifest,
    kept: Kept,
    segment: Recorder,
    begun: Instant,
    /// Segments that are being converted to Parquet, by name.
    pub(super) closing: Vec<(String, JoinHandle<Result<(), Error>>)>,
    retry_at: Option<Instant>,
    /// Age and size of segments that do not change any more, by name.
    known: BTreeMap<String, Known>,
    segments: usize,
    bytes: u64,
}

impl Keeper {
    /// Begins a kept recording, or continues one whose recorder has ended: segments that were not closed are salvaged
    /// in the background.
    pub fn begin(path: &Path, mut manifest: Manifest, kept: Kept) -> Result<Keeper, Error> {
        manifest.kept = Some(kept);
        let (folder, lock) = match Manifest::read(path) {
            Ok((folder, known)) => {
                if known.kept.is_none() {
                    return Err(Error::NotKept(path.to_path_buf()));
                }
                let folder = folder.owned()?;
                let lock = salvage::lock(&folder)?;
                let lock = lock.ok_or(Error::StillWriting { path: path.to_path_buf(), pid: known.writer_pid })?;
                (manifest.id, manifest.created_ns) = (known.id, known.created_ns);
                if is_same_clock(&known.clock, &manifest.clock) {
                    manifest.clock = known.clock;
                }
                (folder, lock)
            }
            Err(Error::Missing(_) | Error::NotARecording { .. }) => {
                let folder = Folder::create(path)?;
                let lock = salvage::lock(&folder)?;
                let pid = manifest.writer_pid;
                (folder, lock.ok_or(Error::StillWriting { path: path.to_path_buf(), pid })?)
            }
            Err(error) => return Err(error),
        };
        manifest.state = State::Writing;
        manifest.closed_ns = None;
        manifest.write(&folder)?;
        folder.make_inner(SEGMENTS)?;
        let before = names(&folder)?;
        let segment = begin_segment(&folder, &manifest, kept)?;
        let mut keeper = Keeper {
            folder,
            _lock: lock,
            manifest,
            kept,
            segment,
            begun: Instant::now(),
            closing: Vec::new(),
            retry_at: None,
            known: BTreeMap::new(),
            segments: 1,
            bytes: 0,
        };
        let unfinished = before.into_iter().filter(|name| keeper.is_unfinished(name)).collect();
        keeper.salvage_in_background(unfinished);
        Ok(keeper)
    }

    /// The recorder of the current segment.
    pub fn recorder(&self) -> &Recorder {
        &self.segment
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The number of segments and their bytes on disk at the last [`Keeper::sweep`].
    pub fn kept(&self) -> (usize, u64) {
        (self.segments, self.bytes)
    }

    /// Whether a new segment is due.
    pub fn is_due(&self) -> bool {
        let is_large = self.kept.max_bytes.is_some_and(|most| self.segment.health().bytes >= most / PARTS_OF_SIZE);
        (self.begun.elapsed() >= self.length() || is_large)
            && self.closing.len() < MOST_CLOSING
            && self.retry_at.is_none_or(|at| Instant::now() >= at)
    }

    /// Begins a segment in which the sources should continue. Then [`Keeper::turned`] ends the previous one.
    pub fn begin_next(&mut self) -> Result<Recorder, Error> {
        self.retry_at = Some(Instant::now() + RETRY_AFTER);
        begin_segment(&self.folder, &self.manifest, self.kept)
    }

    /// Ends the segment before `next`, in which all sources have continued, and closes it in the background.
    pub fn turned(&mut self, next: Recorder) {
        let before = std::mem::replace(&mut self.segment, next);
        (self.begun, self.retry_at) = (Instant::now(), None);
        let name = name_in(&before);
        let close = move || before.close().map(|_| ());
        self.in_background(name, close);
    }

    /// Deletes a segment that [`Keeper::begin_next`] began and in which no source has continued.
    pub fn abandon(&mut self, next: &Recorder) -> Result<(), Error> {
        // The segment is empty, so a failure to close it loses nothing.
        let _ = next.close();
        self.delete(&name_in(next))
    }

    /// Deletes the segments that are too old or exceed the size, and returns errors of closing and deleting.
    pub fn sweep(&mut self) -> Vec<Error> {
        let mut failed = self.join_closed(false);
        if let Err(error) = self.delete_old() {
            failed.push(error);
        }
        failed
    }

    /// Ends the recording, as [`Recorder::close_within`] does.
    pub fn close(mut self, failed: &mut dyn FnMut(&Waiting<'_>)) -> Result<Summary, Error> {
        let closed = self.segment.close_within(crate::CLOSE_FOR, failed);
        let others = self.join_closed(true);
        let swept = self.delete_old();
        self.manifest.state = State::Closed;
        self.manifest.closed_ns = Some(self.segment.clock().now_ns());
        self.manifest.write(&self.folder)?;
        closed?;
        others.into_iter().map(Err).chain([swept]).collect::<Result<(), Error>>()?;
        let whole = Recording::open(self.folder.path())?;
        let Manifest { tables, losses, .. } = whole.manifest().clone();
        Ok(Summary { folder: self.folder.path().to_path_buf(), tables, losses })
    }

    fn length(&self) -> Duration {
        let keep = Duration::from_nanos(self.kept.keep_ns.unsigned_abs());
        (keep / PARTS).clamp(SHORTEST, LONGEST)
    }

    fn is_unfinished(&self, name: &str) -> bool {
        matches!(segment(&self.folder, name), Ok(Some((_, manifest))) if manifest.state == State::Writing)
    }

    fn salvage_in_background(&mut self, unfinished: Vec<String>) {
        // Keep the later unfinished segments, too: they are newer than the first.
        if let Some(first) = unfinished.first().cloned() {
            let paths: Vec<_> = unfinished.iter().map(|name| self.folder.path().join(SEGMENTS).join(name)).collect();
            let salvage_all = move || {
                let failed = paths.iter().filter_map(|path| salvage::salvage(path).err());
                // All are tried; the first error is reported.
                failed.collect::<Vec<_>>().into_iter().next().map_or(Ok(()), Err)
            };
            self.in_background(first, salvage_all);
        }
    }

    fn in_background(&mut self, name: String, work: impl FnOnce() -> Result<(), Error> + Send + 'static) {
        // If no thread can be started, the segment stays a stream, which can be read and deleted as well.
        if let Ok(thread) = std::thread::Builder::new().name("recorder-close".to_string()).spawn(work) {
            self.closing.push((name, thread));
        }
    }

    /// Collects the results of the closing threads that have ended, or with `all` waits for all of them.
    fn join_closed(&mut self, all: bool) -> Vec<Error> {
        let (ended, going_on) =
            std::mem::take(&mut self.closing).into_iter().partition(|(_, thread)| all || thread.is_finished());
        self.closing = going_on;
        let ended: Vec<(String, JoinHandle<Result<(), Error>>)> = ended;
        // The message of a panic has been printed.
        ended.into_iter().filter_map(|(_, thread)| thread.join().ok()?.err()).collect()
    }

    /// Deletes what is too old or too much, in the order in which it was made. A segment that can't be deleted is
    /// reported, and keeps no other from being deleted.
    fn delete_old(&mut self) -> Result<(), Error> {
        let Some(segments) = self.folder.inner(SEGMENTS)? else { return Ok(()) };
        let mut failed = None;
        let all = names(&self.folder)?;
        // Segments that an earlier sweep could not delete, and what salvage has set aside, once it is the oldest.
        let is_left = |name: &str| {
            let of_segment = name.strip_suffix(SET_ASIDE).and_then(|name| name.strip_suffix('.'));
            name.starts_with(DELETED)
                || of_segment.is_some_and(|name| all.first().is_some_and(|first| name < first.as_str()))
        };
        for name in segments.names()?.iter().filter(|name| is_left(name)) {
            failed = failed.or(segments.remove_all(name).err());
        }
        let own = name_in(&self.segment);
        self.known.retain(|name, _| all.contains(name));
        let known: Vec<Known> = all.iter().map(|name| self.known(&segments, name, &own)).collect();
        let clock = self.segment.clock();
        let oldest_ns = clock.now_ns().saturating_sub(clock.epoch_offset_ns()).saturating_sub(self.kept.keep_ns);
        // A segment ends where the next one begins. Where one is too old, so are all that were made before it, whatever the
        // wall clock was then.
        let is_old = |next: &Known| next.begin_ns < oldest_ns;
        let old = known.iter().skip(1).rposition(is_old).map_or(0, |last| last + 1);
        let mut bytes = known.iter().map(|known| known.bytes).fold(0, u64::saturating_add);
        (self.segments, self.bytes) = (all.len(), bytes);
        for (place, name) in all.iter().enumerate() {
            let is_large = self.kept.max_bytes.is_some_and(|most| bytes > most);
            let is_used = *name == own || self.closing.iter().any(|(closing, _)| closing == name);
            if is_used || !(place < old || is_large) {
                break;
            }
            bytes = bytes.saturating_sub(known[place].bytes);
            match self.delete(name) {
                Ok(()) => (self.segments, self.bytes) = (self.segments - 1, bytes),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// The begin of a segment, and the bytes that it takes, whatever is damaged in it.
    fn known(&mut self, segments: &Folder, name: &str, own: &str) -> Known {
        let clock = self.segment.clock();
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let manifest = segment(&self.folder, name).ok().flatten().map(|(_, manifest)| manifest);
        let wall_ns = manifest.as_ref().map_or_else(|| begin_of(name), |manifest| manifest.created_ns);
        let of_this_boot = manifest.as_ref().filter(|manifest| manifest.clock.boot_id == self.manifest.clock.boot_id);
        let offset_ns = of_this_boot.map_or(clock.epoch_offset_ns(), |manifest| manifest.clock.epoch_offset_ns);
        let begin_ns = wall_ns.saturating_sub(offset_ns);
        if name == own {
            return Known { begin_ns, bytes: self.segment.health().bytes };
        }
        let known = Known { begin_ns, bytes: segments.bytes_of(name) };
        let is_closing = self.closing.iter().any(|(closing, _)| closing == name);
        if !is_closing && manifest.is_none_or(|manifest| manifest.state != State::Writing) {
            self.known.insert(name.to_string(), known);
        }
        known
    }

    fn delete(&mut self, name: &str) -> Result<(), Error> {
        let segments = self.folder.make_inner(SEGMENTS)?;
        let deleted = format!("{DELETED}-{name}");
        segments.rename(name, &deleted)?;
        segments.remove_all(&deleted)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.join_closed(true);
    }
}

fn begin_segment(folder: &Folder, kept: &Manifest, limits: Kept) -> Result<Recorder, Error> {
    let begin_ns = Clock::from_facts(&kept.clock).now_ns();
    let mut manifest = Manifest::new(&kept.title, &kept.command);
    manifest.clock = kept.clock.clone();
    manifest.created_ns = begin_ns;
    let path = folder.path().join(SEGMENTS).join(name_of(begin_ns, names(folder)?.last()));
    let recorder = Recorder::create(&path, manifest)?;
    if let Some(most) = limits.max_bytes {
        // Reached only if the sources can't continue in a new segment.
        recorder.limit_size(most / 2);
    }
    Ok(recorder)
}

fn name_in(segment: &Recorder) -> String {
    segment.folder().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn is_same_clock(known: &crate::ClockFacts, now: &crate::ClockFacts) -> bool {
    known.boot_id == now.boot_id && known.epoch_offset_ns.abs_diff(now.epoch_offset_ns) < SAME_CLOCK_NS.unsigned_abs()
}
