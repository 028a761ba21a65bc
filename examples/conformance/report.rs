//! What came of the cases, as a page.

use std::collections::BTreeMap;
use std::fmt;

use crate::read::Title;

/// What came of the cases.
#[derive(Default)]
pub(crate) struct Report {
    files: BTreeMap<String, File>,
}

#[derive(Default)]
struct File {
    passed: usize,
    /// What was answered instead.
    failed: Vec<(Title, String)>,
    /// Why each was not evaluated.
    left_out: BTreeMap<&'static str, Vec<Title>>,
}

impl Report {
    pub(crate) fn evaluated(&mut self, title: Title, verdict: Result<(), String>) {
        let file = self.file(&title);
        match verdict {
            Ok(()) => file.passed += 1,
            Err(instead) => file.failed.push((title, instead)),
        }
    }

    pub(crate) fn left_out(&mut self, title: Title, reason: &'static str) {
        self.file(&title).left_out.entry(reason).or_default().push(title);
    }

    pub(crate) fn passed(&self) -> usize {
        self.files.values().map(|file| file.passed).sum()
    }

    fn file(&mut self, title: &Title) -> &mut File {
        self.files.entry(title.file.clone()).or_default()
    }
}

impl File {
    fn evaluated(&self) -> usize {
        self.passed + self.failed.len()
    }

    fn not_evaluated(&self) -> usize {
        self.left_out.values().map(Vec::len).sum()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = |count: fn(&File) -> usize| self.files.values().map(count).sum::<usize>();
        let (evaluated, passed) = (total(File::evaluated), self.passed());
        writeln!(f, "# Conformance to CEL\n")?;
        writeln!(
            f,
            "Written by `tests/conformance/run --write`; CI compares. The cases are the simple tests of the\n\
             CEL specification v0.25.1, from the npm package `@bufbuild/cel-spec` 0.6.1. Each goes through\n\
             `spl::predicate::Expression` with its declared names, with the guards and the budget, and with\n\
             the checker unless the case turns it off, on either evaluator. Values must have the expected\n\
             types throughout. An expected error may come when the expression is compiled or when it is\n\
             evaluated.\n"
        )?;
        writeln!(f, "**{passed} of {evaluated} evaluated cases pass.**\n")?;
        writeln!(f, "| file | evaluated | passed | not evaluated |\n|---|--:|--:|--:|")?;
        for (name, file) in self.files.iter().filter(|(_, file)| file.evaluated() > 0) {
            let (evaluated, left_out) = (file.evaluated(), file.not_evaluated());
            writeln!(f, "| {name} | {evaluated} | {} | {left_out} |", file.passed)?;
        }
        writeln!(f, "\n## Failed\n")?;
        if passed == evaluated {
            writeln!(f, "None.")?;
        }
        for (title, instead) in self.files.values().flat_map(|file| &file.failed) {
            writeln!(f, "- `{title}`: {instead}")?;
        }
        writeln!(f, "\n## Not evaluated\n\n| file | cases | why |\n|---|--:|---|")?;
        for (name, reason, titles) in self.reasons() {
            writeln!(f, "| {name} | {} | {reason} |", titles.len())?;
        }
        writeln!(f, "\nIn sum {}. By name:", total(File::not_evaluated))?;
        for (name, _, titles) in self.reasons() {
            writeln!(f, "\n<details><summary>{name}</summary>\n")?;
            for (section, names) in by_section(titles) {
                writeln!(f, "- {section}: {}", names.join(", "))?;
            }
            writeln!(f, "\n</details>")?;
        }
        Ok(())
    }
}

impl Report {
    fn reasons(&self) -> impl Iterator<Item = (&str, &str, &[Title])> {
        self.files.iter().flat_map(|(name, file)| {
            file.left_out.iter().map(|(reason, titles)| (name.as_str(), *reason, titles.as_slice()))
        })
    }
}

/// The names of cases by their sections, in the order of the file.
fn by_section(titles: &[Title]) -> Vec<(&str, Vec<&str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for title in titles {
        match sections.last_mut() {
            Some((section, names)) if *section == title.section => names.push(&title.name),
            _ => sections.push((&title.section, vec![&title.name])),
        }
    }
    sections
}
