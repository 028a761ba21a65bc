//! Everything that can be said of the packs of a project without asking anybody (contract §16).

use std::collections::BTreeSet;

use super::files::{ProjectFile, ProjectFiles};
use super::place::ROOT;
use super::{Finding, Pack, PackCode, PackName, read_assignment, read_pack};
use crate::canon::{Object, hex};
use crate::object;

/// What was found in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Each file of a pack, in the order of its name.
    pub packs: Vec<PackReport>,
    /// Each agent.
    pub agents: Vec<AgentReport>,
}

/// What was found in the file of a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackReport {
    /// The file.
    pub path: String,
    /// The name of the pack, as the file has it.
    pub name: String,
    /// The pack, if it is one.
    pub pack: Option<Pack>,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// What was found in the file of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentReport {
    /// The file.
    pub path: String,
    /// The agent.
    pub name: String,
    /// The packs that it names.
    pub packs: Vec<PackName>,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// Looks at the files of a project. `provider_native` are the tools that the host's providers run
/// themselves.
pub fn validate(files: &ProjectFiles, provider_native: &[String]) -> Report {
    let there: BTreeSet<&str> = files.packs.iter().map(|file| file.name.as_str()).collect();
    Report {
        packs: files.packs.iter().map(|file| pack(file, provider_native)).collect(),
        agents: files.agents.iter().map(|file| agent(file, &there)).collect(),
    }
}

fn pack(file: &ProjectFile, native: &[String]) -> PackReport {
    let name = PackName::parse(&file.name).map_err(|fault| {
        let message = format!("the name of the file {fault}");
        Finding { code: PackCode::InvalidName, path: ROOT.to_owned(), message }
    });
    let (pack, findings) = match (name, &file.bytes) {
        (Err(finding), _) => (None, vec![finding]),
        (_, Err(why)) => (None, vec![unreadable(why)]),
        (Ok(name), Ok(bytes)) => {
            let reading = read_pack(&name, bytes, native);
            (reading.pack, reading.findings)
        }
    };
    PackReport { path: file.path.clone(), name: file.name.clone(), pack, findings }
}

fn agent(file: &ProjectFile, there: &BTreeSet<&str>) -> AgentReport {
    let (packs, findings) = match &file.bytes {
        Err(why) => (Vec::new(), vec![unreadable(why)]),
        Ok(bytes) => read_assignment(bytes, &|name| there.contains(name)),
    };
    AgentReport { path: file.path.clone(), name: file.name.clone(), packs, findings }
}

fn unreadable(why: &str) -> Finding {
    let message = format!("the file cannot be read: {why}");
    Finding { code: PackCode::InvalidJson, path: ROOT.to_owned(), message }
}

impl Report {
    /// Returns every finding, with the file that it is about.
    pub fn findings(&self) -> impl Iterator<Item = (&str, &Finding)> {
        let of_packs = self.packs.iter().map(|it| (it.path.as_str(), &it.findings));
        let of_agents = self.agents.iter().map(|it| (it.path.as_str(), &it.findings));
        of_packs
            .chain(of_agents)
            .flat_map(|(path, findings)| findings.iter().map(move |finding| (path, finding)))
    }

    /// Returns whether nothing is wrong. What is only warned of is not.
    pub fn is_ok(&self) -> bool {
        !self.findings().any(|(_, finding)| finding.is_error())
    }

    /// Returns the report as an answer shows it.
    pub fn to_object(&self) -> Object {
        let pack = |it: &PackReport| {
            let mut object = file(&it.path, &it.name, &it.findings);
            let sha256 = it.pack.as_ref().map(|pack| hex(&pack.sha256));
            object.insert("sha256".into(), sha256.into());
            object
        };
        let agent = |it: &AgentReport| {
            let mut object = file(&it.path, &it.name, &it.findings);
            let packs: Vec<&str> = it.packs.iter().map(PackName::as_str).collect();
            object.insert("packs".into(), packs.into());
            object
        };
        object! {
            "agents": self.agents.iter().map(agent).collect::<Vec<_>>(),
            "ok": self.is_ok(),
            "packs": self.packs.iter().map(pack).collect::<Vec<_>>(),
        }
    }
}

fn file(path: &str, name: &str, findings: &[Finding]) -> Object {
    let of = |errors: bool| -> Vec<Object> {
        findings.iter().filter(|it| it.is_error() == errors).map(Finding::to_object).collect()
    };
    object! { "errors": of(true), "name": name, "path": path, "warnings": of(false) }
}
