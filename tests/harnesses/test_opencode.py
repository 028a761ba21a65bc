"""opencode hears lessons through a plugin."""

import unittest

from clients import Opencode
from desk import NO_RM, Desk, know, prompt_hook

SHELL = 'resource == "tool:bash"'


class OpencodeSessions(unittest.TestCase):
    def setUp(self):
        self.desk = Desk(self, Opencode())

    def test_a_lesson_is_heard_with_the_call_that_it_is_about(self):
        when = f'{SHELL} && record.body.status == "error"'
        lesson = know("read-stderr", when, "${tool} ended with ${status}; read stderr first.")
        opening = {"calls": [Opencode.run("echo one")]}
        run = self.desk.run(
            [opening, {"first": [lesson], "calls": [Opencode.run("echo two; exit 3")]}]
        )
        words = "read-stderr: bash ended with error; read stderr first."
        self.assertEqual(run.heard(words), [0, 0, 1])
        self.assertIn(words, run.results[1])
        session = self.desk.session()
        session.check(self, calls=2, lessons=["offered"])
        self.assertEqual([call["status"] for call in session.calls], ["ok", "error"])


class OpencodePolicy(unittest.TestCase):
    def test_a_call_is_denied_and_the_model_is_told_why(self):
        desk = Desk(self, Opencode(), policy=NO_RM)
        opening = {"calls": [Opencode.run("echo one")]}
        run = desk.run([opening, {"calls": [Opencode.run("rm stock.txt")]}])
        self.assertTrue((desk.shop / "stock.txt").exists())
        self.assertIn("nothing is removed here", run.results[1])
        self.assertEqual(desk.blocks(), [("preToolUse", "bash", "nothing is removed here")])

    def test_a_prompt_is_blocked_before_the_model_hears_it(self):
        desk = Desk(self, Opencode(), policy=prompt_hook("echo 'not today' >&2; exit 2"))
        run = desk.run([{}], silent=True)
        self.assertEqual(run.requests, [])
        self.assertEqual(desk.blocks(), [("userPromptSubmit", None, "not today")])

    def test_what_a_hook_adds_to_a_prompt_is_heard(self):
        policy = prompt_hook("""echo '{"additionalContext":"it is frozen"}'""")
        desk = Desk(self, Opencode(), policy=policy)
        run = desk.run([{"calls": [Opencode.run("echo one")]}])
        self.assertEqual(run.heard("it is frozen"), [1, 1])
