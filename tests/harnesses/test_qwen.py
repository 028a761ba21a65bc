"""Qwen Code hears lessons about calls that went well, that failed, and that printed megabytes."""

import unittest

from clients import Qwen
from desk import Desk, hook_add, know

SHELL = 'resource == "tool:bash"'
OPENING = {"calls": [Qwen.run("echo one")]}


class QwenSessions(unittest.TestCase):
    def setUp(self):
        self.desk = Desk(self, Qwen())

    def test_a_lesson_is_heard_with_the_call_that_it_is_about(self):
        lesson = know("tests-first", SHELL, "${tool} came back; run the tests first.")
        run = self.desk.run([OPENING, {"first": [lesson], "calls": [Qwen.run("echo two")]}])
        words = "tests-first: run_shell_command came back; run the tests first."
        self.assertEqual(run.heard(words), [0, 0, 1])
        self.assertIn(words, run.results[1])
        session = self.desk.session()
        session.check(self, calls=2, lessons=["offered"])
        self.assertEqual([call["canonical"] for call in session.calls], ["bash", "bash"])

    def test_a_call_that_failed_has_an_event_of_its_own(self):
        when = f'{SHELL} && record.body.status == "error"'
        lesson = hook_add("read-stderr", when, "${tool} ended with ${status}; read stderr first.")
        run = self.desk.run(
            [OPENING, {"first": [lesson], "calls": [Qwen.run("echo two; exit 3")]}]
        )
        words = "read-stderr: run_shell_command ended with error; read stderr first."
        self.assertEqual(run.heard(words), [0, 0, 1])
        self.assertIn(words, run.results[1])
        session = self.desk.session()
        session.check(self, calls=2, lessons=["offered"])
        events = [(call["event"], call["status"]) for call in session.calls]
        self.assertEqual(events, [("PostToolUse", "ok"), ("PostToolUseFailure", "error")])

    def test_three_megabytes_of_output_are_read_to_their_end(self):
        lesson = know("too-much", "size(record.body.content) >= 4096", "narrow it down.")
        print_much = "head -c 3000000 /dev/zero | tr '\\0' x"
        run = self.desk.run([OPENING, {"first": [lesson], "calls": [Qwen.run(print_much)]}])
        self.assertEqual(run.heard("too-much: narrow it down."), [0, 0, 1])
        session = self.desk.session()
        session.check(self, calls=2, lessons=["offered"])
        self.assertEqual(len(session.calls[1]["content"]), 4096)
