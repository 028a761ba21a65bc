"""Gemini CLI hears lessons, and what it drops beside an error it hears with the next call."""

import unittest

from clients import GeminiCli
from desk import NO_RM, Desk, know, prompt_hook

SHELL = 'resource == "tool:bash"'
OPENING = {"calls": [GeminiCli.run("echo one")]}


class GeminiSessions(unittest.TestCase):
    def setUp(self):
        self.desk = Desk(self, GeminiCli())

    def test_a_lesson_is_heard_with_the_call_that_it_is_about(self):
        lesson = know("tests-first", SHELL, "${tool} came back; run the tests first.")
        run = self.desk.run([OPENING, {"first": [lesson], "calls": [GeminiCli.run("echo two")]}])
        words = "tests-first: run_shell_command came back; run the tests first."
        self.assertEqual(run.heard(words), [0, 0, 1])
        self.assertIn(words, run.results[1])
        session = self.desk.session()
        session.check(self, calls=2, lessons=["offered"])
        self.assertEqual([call["canonical"] for call in session.calls], ["bash", "bash"])
        session.check_report(self, calls=2, fires=1)

    def test_a_lesson_about_a_failing_tool_is_carried_to_the_next_call(self):
        when = 'record.body.tool == "read_file" && record.body.status == "error"'
        lesson = know("look-first", when, "${tool} ended with ${status}; list the folder first.")
        run = self.desk.run(
            [
                OPENING,
                {"first": [lesson], "calls": [GeminiCli.read(self.desk.shop / "no.txt")]},
                {"calls": [GeminiCli.read(self.desk.shop / "stock.txt")]},
                {"calls": [GeminiCli.run("echo two")]},
            ]
        )
        words = "look-first: read_file ended with error; list the folder first."
        self.assertEqual(run.heard(words), [0, 0, 0, 1, 1])
        self.assertIn(words, run.results[2])
        session = self.desk.session()
        session.check(self, calls=4, lessons=["carried"])
        self.assertEqual([call["status"] for call in session.calls], ["ok", "error", "ok", "ok"])
        self.assertEqual(session.calls[2]["delivers"], session.ids("work.observation"))


class GeminiPolicy(unittest.TestCase):
    def test_a_call_is_denied_and_the_model_is_told_why(self):
        desk = Desk(self, GeminiCli(), policy=NO_RM)
        plan = [OPENING, {"calls": [GeminiCli.run("rm stock.txt")]}]
        run = desk.run(plan)
        self.assertTrue((desk.shop / "stock.txt").exists())
        self.assertIn("nothing is removed here", run.results[1])
        self.assertEqual(desk.blocks(), [("preToolUse", "bash", "nothing is removed here")])

    def test_a_prompt_is_blocked_before_the_model_hears_it(self):
        desk = Desk(self, GeminiCli(), policy=prompt_hook("echo 'not today' >&2; exit 2"))
        run = desk.run([OPENING], silent=True)
        self.assertEqual(run.requests, [])
        self.assertEqual(desk.blocks(), [("userPromptSubmit", None, "not today")])
