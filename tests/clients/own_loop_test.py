"""The example of the README, as it is, against a real server."""

import pathlib
import subprocess
import sys
import unittest

from python_sdk import Server

EXAMPLE = pathlib.Path(__file__).with_name("own_loop.py")


class OwnLoop(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.end)

    def run_example(self):
        env = {**self.server.env, "SPL_SERVE_URL": f"http://127.0.0.1:{self.server.port}"}
        command = [sys.executable, str(EXAMPLE)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_it_hears_a_lesson_from_the_moment_it_is_written(self):
        words = "shell-failed: bash ended with error; read stderr first."
        self.assertNotIn(words, self.run_example())
        when = 'record.body.tool == "bash" && record.body.status != "ok"'
        text = "${tool} ended with ${status}; read stderr first."
        self.server.spl("hook", "add", "shell-failed", "--when", when, "--text", text)
        said = self.run_example()
        self.assertEqual(said.count(words), 1)
        self.assertEqual(said[-2:], ["$ echo fine", "fine"])
