//! A file of the workspace as text, for whoever names one and is no tool.

use std::io::Read as _;

use super::Workspace;
use super::workspace::sentence;

/// Why a path of the workspace is not read as text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoText {
    /// It leads out of the workspace.
    #[error("{0}")]
    Outside(String),
    /// There is no regular file that can be read.
    #[error("{0}")]
    NoFile(String),
    /// It is longer than was asked for.
    #[error("`{path}` is longer than {most} bytes")]
    TooLong {
        /// The path.
        path: String,
        /// The most bytes that were asked for.
        most: usize,
    },
    /// It is not UTF-8.
    #[error("`{path}` is not text")]
    NotText {
        /// The path.
        path: String,
    },
}

impl Workspace {
    /// Reads a file of at most `most` bytes, whole.
    pub fn read_text(&self, path: &str, most: usize) -> Result<String, NoText> {
        let inside = self.resolve(path).map_err(NoText::Outside)?;
        let (file, _) = self.open_to_read(&inside, path).map_err(NoText::NoFile)?;
        let mut bytes = Vec::new();
        // One more than is taken: what a file says of its length may change while it is read.
        let read = file.take(most as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| NoText::NoFile(sentence(path, &error)))?;
        if bytes.len() > most {
            return Err(NoText::TooLong { path: path.to_owned(), most });
        }
        String::from_utf8(bytes).map_err(|_| NoText::NotText { path: path.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_inside_and_short_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("inside/src")).expect("made");
        fs::write(at("secret"), "outside").expect("written");
        fs::write(at("inside/src/a.rs"), "fn a() {}\n").expect("written");
        fs::write(at("inside/bytes"), [0xff, 0xfe]).expect("written");
        symlink(at("secret"), at("inside/link")).expect("a link");
        let workspace = Workspace::open(at("inside")).expect("opened");
        let read = |path: &str| workspace.read_text(path, 10);
        assert_eq!(read("src/a.rs").as_deref(), Ok("fn a() {}\n"));
        let whole = at("inside/src/a.rs");
        assert!(read(&whole.to_string_lossy()).is_ok());
        let long = NoText::TooLong { path: "src/a.rs".into(), most: 9 };
        assert_eq!(workspace.read_text("src/a.rs", 9), Err(long));
        assert_eq!(read("bytes"), Err(NoText::NotText { path: "bytes".into() }));
        for outside in ["../secret", "/etc/passwd", "link"] {
            assert!(matches!(read(outside), Err(NoText::Outside(_))), "{outside}");
        }
        for none in ["src", "missing", "src/a.rs/x"] {
            assert!(matches!(read(none), Err(NoText::NoFile(_))), "{none}");
        }
    }
}
