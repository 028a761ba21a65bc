//! The transcripts of captured sessions that somebody has asked to keep.
//!
//! One file a session, `sessions/<thread>/transcript.jsonl`, which is there whole or not at all.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::{Home, HomeError, make_folder, write_private};
use crate::canon::hex;
use crate::identity::random_bytes;
use crate::record::ThreadId;

impl Home {
    /// Returns where the transcript of a session is kept; `None` if its thread has a name that no
    /// session's has.
    pub fn transcript_path(&self, thread: &ThreadId) -> Option<PathBuf> {
        let digits = thread.as_str().strip_prefix("th_")?;
        let is_hash = digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        is_hash.then(|| self.path().join("sessions").join(thread.as_str()).join("transcript.jsonl"))
    }

    /// Keeps the transcript of a session, in the place of one that was kept before, and returns
    /// where; `None` if its thread has a name that no session's has.
    pub(crate) fn keep_transcript(
        &self,
        thread: &ThreadId,
        text: &[u8],
    ) -> Result<Option<PathBuf>, HomeError> {
        let Some(path) = self.transcript_path(thread) else { return Ok(None) };
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        let draft = path.with_extension(format!("{}.tmp", hex(&random_bytes::<8>()?)));
        match write_private(&draft, text).and_then(|()| fs::rename(&draft, &path)) {
            Ok(()) => Ok(Some(path)),
            Err(source) => {
                let _ = fs::remove_file(&draft);
                Err(HomeError::File { path, action: "written", source })
            }
        }
    }

    /// Deletes the transcript of a session, and returns whether there was one.
    pub(crate) fn forget_transcript(&self, thread: &ThreadId) -> Result<bool, HomeError> {
        let Some(path) = self.transcript_path(thread) else { return Ok(false) };
        let removed = match fs::remove_file(&path) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(source) => {
                return Err(HomeError::File { path, action: "deleted", source });
            }
        };
        // Goes only if it is empty.
        if let Some(folder) = path.parent() {
            let _ = fs::remove_dir(folder);
        }
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_transcript_is_kept_in_private_and_forgotten() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = Home::at(dir.path().join("home"));
        let thread = ThreadId::parse(&format!("th_{}", "a1".repeat(32))).expect("a thread");
        let path = home.transcript_path(&thread).expect("a path");
        home.keep_transcript(&thread, b"one").expect("kept");
        assert_eq!(home.keep_transcript(&thread, b"two").expect("kept again"), Some(path.clone()));
        assert_eq!(fs::read(&path).expect("read"), b"two");
        let mode = |path: &std::path::Path| {
            fs::metadata(path).expect("there").permissions().mode() & 0o777
        };
        assert_eq!(mode(&path), 0o600);
        for folder in path.ancestors().skip(1).take(3) {
            assert_eq!(mode(folder), 0o700, "{}", folder.display());
        }
        let files = fs::read_dir(path.parent().expect("a folder")).expect("read").count();
        assert_eq!(files, 1, "drafts stay behind");
        assert!(home.forget_transcript(&thread).expect("forgotten"));
        assert!(!path.parent().expect("a folder").exists());
        assert!(!home.forget_transcript(&thread).expect("forgotten"));
    }

    #[test]
    fn no_other_name_is_a_folder() {
        let home = Home::at("/home");
        for name in ["th_..", "th_engine_config", "../../x", "th_a/b"] {
            let thread = ThreadId::parse(name);
            assert!(
                thread.ok().and_then(|thread| home.transcript_path(&thread)).is_none(),
                "{name}"
            );
        }
    }
}
