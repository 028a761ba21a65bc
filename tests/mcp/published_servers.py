"""Runs of the real binary that use the tools of published MCP servers."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SPL = os.environ["SPL_BINARY"]
SERVERS = os.environ["SERVERS"]


class Desk:
    """A home whose settings name the servers, and a workspace that is a repository."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="spl-"))
        self.workspace = self.folder / "work"
        self.workspace.mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "USER": "vera"}
        self.spl("init")
        with open(self.folder / ".syncro/config.toml", "a") as settings:
            settings.write(f'\n[mcp.time]\ncommand = "{SERVERS}/mcp-server-time"\n')
            settings.write('args = ["--local-timezone", "Etc/UTC"]\n')
            settings.write(f'\n[mcp.git]\ncommand = "{SERVERS}/mcp-server-git"\n')

    def spl(self, *args, status=0):
        done = subprocess.run(
            [SPL, *args], env=self.env, cwd=self.folder, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == status, done
        return done.stdout

    def play(self, *calls, tools="*"):
        """Plays a run that makes these calls, one a turn, and returns what each came to."""
        turns = [{"text": "", "tool_calls": [{"name": name, "args": args}]} for name, args in calls]
        turns.append({"text": "That is all."})
        script = self.folder / "script.json"
        script.write_text(json.dumps({"turns": turns}))
        arguments = ["--script", str(script), "--workspace", str(self.workspace), "--tools", tools]
        report = json.loads(self.spl("-o", "json", "work-loop", "try", *arguments))
        assert report["outcome"] == "completed", report
        records = self.spl("-o", "stream-json", "thread", "records", report["thread"])
        bodies = [json.loads(line)["body"] for line in records.splitlines()]
        return [body for body in bodies if body["kind"] == "core.work.tool_result.v1"]


class PublishedServers(unittest.TestCase):
    def test_a_time_is_converted(self):
        desk = Desk()
        arguments = {"source_timezone": "Europe/Paris", "target_timezone": "Asia/Tokyo"}
        good, bad, foreign = desk.play(
            ("mcp__time__convert_time", {**arguments, "time": "12:30"}),
            ("mcp__time__convert_time", arguments),
            ("mcp__time__convert_time", {**arguments, "time": "12:30", "source_timezone": "Mars"}),
            tools="mcp__time__*",
        )
        self.assertEqual(good["status"], "ok", good)
        self.assertIn("Asia/Tokyo", json.dumps(good))
        # Bad by its schema: it is never sent.
        self.assertEqual(bad["status"], "error", bad)
        self.assertIn("`mcp__time__convert_time` needs `time`", json.dumps(bad))
        # Bad by its meaning: the server says so.
        self.assertEqual(foreign["status"], "error", foreign)
        self.assertIn("Mars", json.dumps(foreign))
        desk.spl("verify")

    def test_a_repository_is_looked_at(self):
        desk = Desk()
        git = ["git", "-C", str(desk.workspace)]
        subprocess.run([*git, "init", "--quiet"], check=True, env=desk.env)
        (desk.workspace / "new.txt").write_text("new\n")
        status, denied = desk.play(
            ("mcp__git__git_status", {"repo_path": str(desk.workspace)}),
            ("mcp__time__get_current_time", {"timezone": "Etc/UTC"}),
            tools="bash,mcp__git__git_status",
        )
        self.assertEqual(status["status"], "ok", status)
        self.assertIn("new.txt", json.dumps(status))
        # What was not granted is not there.
        self.assertEqual(denied["status"], "error", denied)
        self.assertIn("there is no tool `mcp__time__get_current_time`", json.dumps(denied))

    def test_the_tools_are_listed(self):
        desk = Desk()
        listed = json.loads(desk.spl("-o", "json", "tool", "list"))
        names = [tool["name"] for tool in listed["data"]]
        self.assertIn("mcp__time__convert_time", names)
        self.assertIn("mcp__git__git_log", names)
        self.assertEqual([server["state"] for server in listed["servers"]], ["ready", "ready"])
        self.assertEqual([server["refused"] for server in listed["servers"]], [[], []])
        shown = json.loads(desk.spl("-o", "json", "tool", "show", "mcp__time__convert_time"))
        self.assertEqual(shown["server"], "time")
        self.assertIn("time", shown["parameters"]["required"])
