"""Codex hears lessons."""

import unittest

from clients import Codex
from desk import Desk, hook_add, know

SHELL = 'resource == "tool:bash"'


class CodexHears(unittest.TestCase):
    def setUp(self):
        self.desk = Desk(self, Codex())

    def test_a_lesson_is_heard_with_the_next_call(self):
        lesson = know("tests-first", SHELL, "${tool} came back; run the tests first.")
        plan = [
            {"calls": [Codex.run("echo one")]},
            {"calls": [Codex.run("echo two")], "first": [lesson]},
        ]
        run = self.desk.run(plan)
        words = "tests-first: Bash came back; run the tests first."
        self.assertEqual(run.heard(words), [0, 0, 1])
