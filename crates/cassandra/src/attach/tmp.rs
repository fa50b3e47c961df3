//! Files that an agent or the JVM writes into its /tmp, and that are read here.

use std::fs::File;
use std::io;

use super::Error;
use super::channel::Folders;
use super::leftovers::Leftovers;
use crate::target::Target;

/// Files in the target's /tmp whose names only that JVM gets. The files are removed on drop, and also when this process is
/// killed; a file that was opened lives on without a name.
#[derive(Debug)]
pub struct WrittenFiles {
    leftovers: Leftovers,
    owner: u32,
}

impl WrittenFiles {
    /// To be called before the JVM makes them.
    ///
    /// # Errors
    /// When the target's /tmp can't be opened.
    pub fn of(target: &Target, names: &[&str]) -> Result<WrittenFiles, Error> {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        Ok(WrittenFiles { leftovers: Leftovers::watch(Folders::open(target)?.tmp, names, None), owner: target.uid })
    }

    /// Opens one for reading.
    ///
    /// # Errors
    /// Fails if it does not exist, or is no regular file of the target's user: then another user has put it there.
    pub fn open(&self, name: &str) -> io::Result<File> {
        self.leftovers.open(name, self.owner)
    }
}
