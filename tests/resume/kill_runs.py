"""Runs that are killed at random instants and taken up again.

Each round is one run of many tool calls, each of which appends a line of its own to a file. The
process is killed with SIGKILL after a random while, then the run is resumed; the resumed one may be
killed too. In the end every line stands at most once in the file, every call has a result, a call
that is reported as unknown is the only kind whose line may be there or not, and the store verifies.
"""

import argparse
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TURNS = 12
CALLS = 3
LESSON = '{"kind":"core.hook.v1","topic":"hook","name":"failed","when":"record.body.status != \\"ok\\"","text":"it failed","max_fires_per_run":2}'


def script():
    turns = []
    for turn in range(TURNS):
        calls = []
        for call in range(CALLS):
            line = f"line-{turn}-{call}"
            end = "; exit 1" if call == 2 and turn % 3 == 0 else ""
            calls.append({"name": "bash", "args": {"command": f"echo {line} >> lines{end}"}})
        turns.append({"text": f"turn {turn}", "tool_calls": calls})
    turns.append({"text": "done"})
    return {"turns": turns}


class Round:
    def __init__(self, spl, folder):
        self.spl, self.folder = spl, Path(folder)
        self.environment = {
            "PATH": os.environ["PATH"],
            "SYNCROPEL_HOME": str(self.folder / "home"),
        }
        (self.folder / "script.json").write_text(json.dumps(script()))

    def command(self, *arguments):
        return [self.spl, "-o", "stream-json", *arguments]

    def start(self, *arguments):
        return subprocess.Popen(
            self.command("work-loop", *arguments, "--script", "script.json", "--workspace", "."),
            cwd=self.folder, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )

    def ask(self, *arguments):
        done = subprocess.run(
            [self.spl, *arguments], cwd=self.folder, env=self.environment,
            capture_output=True, text=True, timeout=60,
        )
        assert done.returncode == 0, f"spl {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout

    def kill_after(self, process, seconds):
        """Kills the process after a while; returns whether it was still there."""
        try:
            process.wait(timeout=seconds)
            return False
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return True

    def records(self, thread):
        lines = self.ask("-o", "stream-json", "thread", "records", thread, "--limit", "1000")
        return [json.loads(line) for line in lines.splitlines()]


def play(spl, rounds, chance):
    killed_total = unknown_total = 0
    span = measure(spl)
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            killed, unknown = one(Round(spl, folder), chance, span)
        killed_total += killed
        unknown_total += unknown
        if sys.stderr.isatty() or (number + 1) % 10 == 0:
            print(f"{number + 1} of {rounds} runs, {killed_total} kills", file=sys.stderr)
    return killed_total, unknown_total


def measure(spl):
    """How long a whole run takes here, so that kills fall within it."""
    with tempfile.TemporaryDirectory() as folder:
        whole = Round(spl, folder)
        whole.ask("init")
        begin = time.monotonic()
        assert whole.start("append lines").wait(timeout=120) == 0
        return time.monotonic() - begin


def one(run, chance, span):
    run.ask("init")
    run.ask("know", "--thread", "th_engine_config", "--act", "LEARN", "--body", LESSON)
    process, killed = run.start("append lines"), 0
    while run.kill_after(process, chance.uniform(0, span) if killed < 3 else 120):
        killed += 1
        thread = loop_thread(run)
        if thread is None:
            process = run.start("append lines")
        else:
            process = run.start("--resume", thread)
    output, errors = process.stdout.read(), process.stderr.read()
    thread = loop_thread(run)
    if process.returncode != 0:
        # Killed between the outcome and the end of the process: there was nothing to take up.
        assert "RUN_FINISHED" in output + errors, f"exit {process.returncode}: {output}{errors}"
    unknown = check(run, thread)
    run.ask("verify")
    return killed, unknown


def loop_thread(run):
    """The thread of the run, if it was opened."""
    lines = run.ask("-o", "stream-json", "thread", "list").splitlines()
    threads = [json.loads(line)["id"] for line in lines]
    loops = [thread for thread in threads if thread != "th_engine_config"]
    assert len(loops) <= 1, loops
    return loops[0] if loops else None


def check(run, thread):
    records = run.records(thread)
    kinds = collections.Counter(record["body"]["kind"] for record in records)
    assert kinds["core.work.loop_outcome.v1"] == 1, kinds
    outcome = next(r for r in records if r["body"]["kind"] == "core.work.loop_outcome.v1")["body"]
    assert outcome["outcome"] == "completed", outcome
    assert kinds["core.work.turn.v1"] == TURNS + 1, kinds
    assert kinds["core.work.tool_call.v1"] == TURNS * CALLS, kinds
    assert kinds["core.work.tool_verdict.v1"] == TURNS * CALLS, kinds
    assert kinds["core.work.tool_result.v1"] == TURNS * CALLS, kinds
    calls = {r["id"]: r["body"] for r in records if r["body"]["kind"] == "core.work.tool_call.v1"}
    lines = collections.Counter((run.folder / "lines").read_text().split())
    unknown = 0
    for result in (r["body"] for r in records if r["body"]["kind"] == "core.work.tool_result.v1"):
        line = calls.pop(result["fulfills"])["args"]["command"].split()[1]
        if "is not known" in result["content"]:
            unknown += 1
            assert lines[line] <= 1, f"{line} was done {lines[line]} times"
        else:
            assert lines[line] == 1, f"{line} was done {lines[line]} times"
    assert not calls, f"calls without a result: {calls}"
    for life, count in fires(records).items():
        assert count <= 2, f"{count} fires in life {life}"
    return unknown


def fires(records):
    """How often the lesson spoke in each life of the run."""
    spoken = (r["body"] for r in records if r["body"]["kind"] == "core.work.observation.v1")
    return collections.Counter(body["life"] for body in spoken if body["rule"] == "failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--spl", default="target/release/spl")
    parser.add_argument("--seed", type=int, default=20261130)
    arguments = parser.parse_args()
    spl = shutil.which(arguments.spl) or sys.exit(f"there is no {arguments.spl}")
    kills, unknown = play(os.path.realpath(spl), arguments.rounds, random.Random(arguments.seed))
    print(
        f"{arguments.rounds} runs, {kills} kills, {unknown} calls reported as unknown: "
        "nothing was done twice, every run ended, every store verifies"
    )


if __name__ == "__main__":
    main()
