"""A fresh home with one harness and the hooks of `spl`, and what its runs leave behind.

In: a client, a plan of the model. Out: the requests that the model was sent, and the records.
"""

import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from clients import CLIENTS, PORT, write
from wire import text_of

SPL = os.environ["SPL_BINARY"]
HERE = pathlib.Path(__file__).parent
# One run of a client.
SECONDS = 60


@dataclasses.dataclass
class Run:
    requests: list
    stdout: str
    stderr: str
    # Of the last request: the text of each tool's result, and of each developer's message.
    results: list
    asides: list

    def heard(self, words):
        """How often these words stand in each request."""
        return [text_of(request).count(words) for request in self.requests]


class Desk:
    def __init__(self, test, client, policy=None):
        self.client = client
        # Not where others put what is temporary: the sandbox of a harness has a place of its own
        # there, and would not find what the harness has put beside its settings.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="desk-", dir=CLIENTS.parent))
        test.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.home = self.folder / "home"
        self.shop = self.folder / "shop"
        self.home.mkdir()
        self.shop.mkdir()
        (self.shop / "stock.txt").write_text("three chairs\n")
        self.env = {
            "PATH": f"{pathlib.Path(SPL).parent}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "USER": "vera",
            "LANG": "C.UTF-8",
        }
        client.settle(self.home)
        options = []
        if policy is not None:
            write(self.home / ".polyglot/settings.json", json.dumps({"hooks": policy}))
            options.append("--with-policy")
        self.spl("session", "install-hooks", "--harness", client.harness, *options)

    def spl(self, *args, status=0):
        command = [SPL, *args]
        done = subprocess.run(
            command, env=self.env, cwd=self.shop, capture_output=True, text=True, timeout=30
        )
        assert done.returncode == status, done
        return done.stdout

    def json(self, *args, **options):
        return json.loads(self.spl("-o", "json", *args, **options))

    def run(self, plan, silent=False, **options):
        """Runs the client once, by itself in a network of its own. If it is `silent`, it may end as
        it likes, and need not ask the model."""
        files = {name: self.folder / name for name in ("log", "stdout", "stderr")}
        scenario = {
            "argv": self.client.start("please do as you are told", **options),
            "cwd": str(self.shop),
            "env": {**self.env, **self.client.env},
            "plan": plan,
            "port": PORT,
            "seconds": SECONDS,
            **{name: str(path) for name, path in files.items()},
        }
        file = self.folder / "scenario.json"
        file.write_text(json.dumps(scenario))
        command = [*os.environ["SEPARATE"].split(), sys.executable, "-B", HERE / "inside.py", file]
        done = subprocess.run(
            command, env=self.env, capture_output=True, text=True, timeout=SECONDS + 30
        )
        assert done.returncode == 0, done
        ended = json.loads(done.stdout)
        lines = [json.loads(line) for line in files["log"].read_text().splitlines()]
        said = [files[name].read_text(errors="replace") for name in ("stdout", "stderr")]
        assert ended["alone"] and ended["status"] is not None, (ended, *said)
        assert silent or ended["status"] == 0, (ended, *said)
        trouble = [line["trouble"] for line in lines if "trouble" in line]
        assert not trouble, trouble
        if silent and not lines:
            return Run([], *said, [], [])
        assert lines, ("the model was not asked", *said)
        wire = self.client.wire
        took = f"[{self.client.harness}: {ended['seconds']:.1f} s]"
        print(took, end=" ", file=sys.stderr, flush=True)
        return Run(lines, *said, wire.results(lines[-1]), wire.asides(lines[-1]))

    def serve(self, test):
        """Starts a server on the home; the hooks find its socket also from another network."""
        self.spl("serve", "--daemon", "--port", "0")
        test.addCleanup(self.spl, "serve", "--stop")

    def blocks(self):
        """What policy hooks have blocked: the event, the tool, and why."""
        lines = self.spl("-o", "stream-json", "thread", "records", "th_audit_security").splitlines()
        bodies = [json.loads(line)["body"] for line in lines]
        kind = "core.audit.policy.v1"
        return [(b["event"], b["tool"], b["reason"]) for b in bodies if b["kind"] == kind]

    def doctor(self, status):
        """What the doctor says of the harness, and the outcome of each of its checks."""
        command = ("session", "doctor", "--harness", self.client.harness)
        [row] = self.json(*command, status=status)["harnesses"]
        return row, {check["name"]: check["outcome"] for check in row["checks"]}

    def session(self):
        """The only session there is."""
        listed = self.json("session", "list")["data"]
        assert len(listed) == 1, listed
        return Session(self, listed[0])


class Session:
    """The records of one session."""

    def __init__(self, desk, row):
        name = f"session\0{desk.client.harness}\0{row['session_id']}"
        self.desk = desk
        self.thread = "th_" + hashlib.sha256(name.encode()).hexdigest()
        assert row["thread"] == self.thread, row
        lines = desk.spl("-o", "stream-json", "thread", "records", self.thread).splitlines()
        self.records = [json.loads(line) for line in lines]

        self.calls = self.bodies("session.tool")

    def of(self, kind):
        return [r for r in self.records if r["body"].get("kind") == f"core.{kind}.v1"]

    def bodies(self, kind):
        return [record["body"] for record in self.of(kind)]

    def ids(self, kind):
        return [record["id"] for record in self.of(kind)]

    def check(self, test, calls, lessons):
        """What must hold of every session: one charter, each call and each lesson once."""
        test.assertEqual(len(self.of("session.charter")), 1)
        test.assertEqual(self.records[0]["body"]["kind"], "core.session.charter.v1")
        test.assertEqual(len({call["call_id"] for call in self.calls}), calls)
        test.assertEqual(len(self.calls), calls)
        said = self.of("work.observation")
        test.assertEqual([record["body"]["delivery"] for record in said], lessons)
        for record in said:
            test.assertIn(record["parents"][0], self.ids("session.tool"))
        self.desk.spl("session", "show", self.thread)
        self.desk.spl("verify")

    def check_report(self, test, calls, fires):
        """The newest report counts what the records hold."""
        report = self.bodies("session.report")[-1]
        test.assertEqual(report["reason"], "ended")
        test.assertEqual(report["calls"], calls)
        test.assertEqual(sum(lesson["fires"] for lesson in report["lessons"]), fires)
        test.assertEqual(report["undelivered"], [])


# A policy hook that refuses to remove anything, by whatever name a harness's shell goes.
NO_RM = {
    "preToolUse": [
        {
            "tools": ["bash"],
            "command": "if grep -q 'rm '; then echo 'nothing is removed here' >&2; exit 2; fi",
        }
    ]
}


def prompt_hook(command):
    return {"userPromptSubmit": [{"command": command}]}


def know(name, when, text, **fields):
    """The command that writes a lesson as a record."""
    body = {"kind": "core.hook.v1", "topic": "hook", "name": name, "when": when, "text": text}
    engine = ["--thread", "th_engine_config", "--actor", "did:sync:system:engine"]
    return [SPL, "know", *engine, "--act", "LEARN", "--body", json.dumps({**body, **fields})]


def hook_add(name, when, text, most=3):
    """The command that writes a lesson in short."""
    return [SPL, "hook", "add", name, "--when", when, "--text", text, "--max", str(most)]
