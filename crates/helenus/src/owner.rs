//! The owner of a file that this user may not use.

use helenus_cassandra::process::user_name;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Advice about an error that was caused by the rights of a file: whose it is, and who may.
pub fn way_out(error: &anyhow::Error) -> Option<String> {
    let is_denied = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::PermissionDenied)
    };
    let text = format!("{error:#}");
    if !error.chain().any(is_denied) && !text.contains("os error 13") {
        return None;
    }
    // SAFETY: geteuid takes no pointers and cannot fail.
    let own = unsafe { libc::geteuid() };
    let (path, uid) = text.split_whitespace().find_map(owner)?;
    let (owner, own) = (user_name(uid), user_name(own));
    // A file of one's own can be in a folder or on a file system that is read-only.
    (owner != own)
        .then(|| format!("{path} belongs to {owner}, and this is {own}: run helenus as {owner} or root (sudo)"))
}

/// The nearest part of a path that can be seen, and its owner; None unless the word is an absolute path.
fn owner(word: &str) -> Option<(String, u32)> {
    let path = Path::new(word.trim_matches(['"', '\'', '`', ':', ',', ';', '(', ')']));
    if !path.is_absolute() {
        return None;
    }
    path.ancestors().find_map(|part| Some((part.display().to_string(), std::fs::metadata(part).ok()?.uid())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn an_error_of_rights_names_the_owner_of_the_nearest_visible_folder() {
        assert_eq!(owner("`/proc/1/no-such-file`:"), Some(("/proc/1".into(), 0)));
        assert_eq!(owner("file"), None);
        let denied = || anyhow::Error::new(std::io::Error::from(ErrorKind::PermissionDenied));
        let error = Err::<(), _>(denied()).context("cannot read /proc/1/environ").unwrap_err();
        // SAFETY: geteuid takes no pointers and cannot fail.
        let is_root = unsafe { libc::geteuid() } == 0;
        assert_eq!(way_out(&error).is_none(), is_root, "{:?}", way_out(&error));
        assert_eq!(way_out(&anyhow::anyhow!("cannot read /proc/1/environ: it is empty")), None);
    }
}
