//! The cases of a dialect, one file each, named as the case is.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// Returns the folder of a dialect's fixtures.
pub(crate) fn fixtures(dialect: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/policy").join(dialect)
}

/// Returns every case of a dialect, in order.
pub(crate) fn each<T: DeserializeOwned>(
    dialect: &str,
    id: impl Fn(&T) -> &str,
) -> impl Iterator<Item = T> {
    let entries = fs::read_dir(fixtures(dialect).join("cases")).expect("the cases");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths.into_iter().map(move |path| {
        let text = fs::read_to_string(&path).expect("a case");
        let case: T = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(path.file_stem().and_then(|name| name.to_str()), Some(id(&case)));
        case
    })
}
