"""Qwen Code hears lessons about calls that went well, that failed, and that printed megabytes."""

import unittest

from clients import Qwen
from desk import NO_RM, Desk, hook_add, know, prompt_hook

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


class QwenPolicy(unittest.TestCase):
    """Policy hooks decide before Qwen Code does, and it decides after them as ever."""

    def test_a_call_is_denied_and_the_model_is_told_why(self):
        desk = Desk(self, Qwen(), policy=NO_RM)
        plan = [OPENING, {"calls": [Qwen.run("rm stock.txt")]}, {"calls": [Qwen.run("echo two")]}]
        run = desk.run(plan)
        self.assertTrue((desk.shop / "stock.txt").exists())
        self.assertIn("nothing is removed here", run.results[1])
        self.assertIn("two", run.results[2])
        self.assertEqual(desk.blocks(), [("preToolUse", "bash", "nothing is removed here")])

    def test_a_call_that_no_hook_refuses_meets_the_rules_of_qwen(self):
        desk = Desk(self, Qwen(deny=["Bash(touch *)"]), policy=NO_RM)
        calls = [Qwen.run("touch made.txt"), Qwen.run("cp stock.txt copied.txt")]
        run = desk.run([OPENING, *({"calls": [call]} for call in calls)])
        self.assertIn("was denied by permission rules", run.results[1])
        self.assertFalse((desk.shop / "made.txt").exists())
        self.assertTrue((desk.shop / "copied.txt").exists())
        self.assertEqual(desk.blocks(), [])

    def test_a_prompt_is_blocked_before_the_model_hears_it(self):
        desk = Desk(self, Qwen(), policy=prompt_hook("echo 'not today' >&2; exit 2"))
        run = desk.run([OPENING], silent=True)
        self.assertEqual(run.requests, [])
        self.assertEqual(desk.blocks(), [("userPromptSubmit", None, "not today")])

    def test_what_a_hook_adds_to_a_prompt_is_heard(self):
        desk = Desk(self, Qwen(), policy=prompt_hook("""echo '{"additionalContext":"it is frozen"}'"""))
        run = desk.run([OPENING])
        self.assertEqual(run.heard("it is frozen"), [1, 1])
