//! What is found in the files of a project.

use std::fs;

use spl::policy::polpo::{PackReport, files, validate};
use tempfile::TempDir;

use crate::cases::{InFile, Validation, cases, text_of, whole};

/// Lays out a project.
fn project(files: &std::collections::BTreeMap<String, serde_json::Value>) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (path, value) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, text_of(value)).expect("written");
    }
    folder
}

#[test]
fn every_case_is_found_as_it_says() {
    let mut seen = 0;
    for case in cases() {
        for Validation { files, provider_native, mut errors, mut warnings, good, lacks } in
            case.validate
        {
            seen += 1;
            let folder = project(&files);
            let read = files::read(folder.path()).expect("read");
            let report = validate(&read, &provider_native);
            let found = |is_error: bool| {
                let mut found: Vec<InFile> = report
                    .findings()
                    .filter(|(_, finding)| finding.is_error() == is_error)
                    .map(|(file, finding)| InFile {
                        file: file.to_owned(),
                        code: finding.code.as_str().to_owned(),
                        path: finding.path.clone(),
                    })
                    .collect();
                found.sort();
                found
            };
            errors.sort();
            warnings.sort();
            assert_eq!(found(true), errors, "{}", case.id);
            assert_eq!(found(false), warnings, "{}", case.id);
            assert_eq!(report.is_ok(), errors.is_empty(), "{}", case.id);
            let is_pack = |it: &&PackReport| it.pack.is_some();
            let packs: Vec<&str> =
                report.packs.iter().filter(is_pack).map(|it| it.name.as_str()).collect();
            assert_eq!(packs, good, "{}", case.id);
            if let Some(lacks) = lacks {
                let lacks = whole(&lacks);
                let lacks = lacks.as_str().expect("a text");
                let said = spl::canon::Value::from(report.to_object()).to_string();
                assert!(files.values().any(|file| text_of(file).contains(lacks)), "{}", case.id);
                assert!(!said.contains(lacks), "{}: {said}", case.id);
            }
        }
    }
    assert!(seen > 20);
}

#[test]
fn a_file_that_is_no_pack_is_passed_over() {
    let folder = TempDir::new().expect("a folder");
    let hooks = folder.path().join(".polpo/hooks");
    fs::create_dir_all(hooks.join("sub.json")).expect("made");
    fs::create_dir_all(hooks.join("sub")).expect("made");
    for name in ["readme.md", "sub/inner.json", "a.JSON", "b.json.bak", "json"] {
        fs::write(hooks.join(name), "no pack").expect("written");
    }
    let report = validate(&files::read(folder.path()).expect("read"), &[]);
    assert!(report.packs.is_empty() && report.is_ok());
}

#[test]
fn packs_come_in_the_order_of_the_bytes_of_their_names() {
    let folder = TempDir::new().expect("a folder");
    let hooks = folder.path().join(".polpo/hooks");
    fs::create_dir_all(&hooks).expect("made");
    for name in ["b.json", "a.json", "B.json", "ä.json", "a-b.json"] {
        fs::write(hooks.join(name), "{}").expect("written");
    }
    let report = validate(&files::read(folder.path()).expect("read"), &[]);
    let names: Vec<&str> = report.packs.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["B", "a-b", "a", "b", "ä"]);
}
