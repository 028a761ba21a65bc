"""Codex hears lessons, once each, if a person trusts its hooks."""

import unittest

from clients import Codex
from desk import NO_RM, Desk, hook_add, know, prompt_hook

SHELL = 'resource == "tool:bash"'
OPENING = {"calls": [Codex.run("echo one")]}


class CodexSessions(unittest.TestCase):
    def setUp(self):
        self.desk = Desk(self, Codex())

    def run_codex(self, plan, **options):
        run = self.desk.run(plan, **options)
        # It says so when a hook's answer is not to its liking.
        self.assertNotRegex(run.stderr, r"hook: \w+ (Failed|Blocked)")
        return run

    def test_a_lesson_is_heard_with_the_call_that_it_is_about(self):
        lesson = know("tests-first", SHELL, "${tool} came back; run the tests first.")
        run = self.run_codex([OPENING, {"first": [lesson], "calls": [Codex.run("echo two")]}])
        words = "tests-first: Bash came back; run the tests first."
        self.assertEqual(run.heard(words), [0, 0, 1])
        # It comes as a message of its own, not inside the result.
        self.assertTrue(any(aside.endswith(words) for aside in run.asides))
        session = self.desk.session()
        session.check(self, calls=2, lessons=["offered"])
        self.assertEqual([call["tool"] for call in session.calls], ["Bash", "Bash"])
        self.assertEqual([call["canonical"] for call in session.calls], ["bash", "bash"])
        session.check_report(self, calls=2, fires=1)

    def test_a_command_that_failed_is_known_by_what_it_printed(self):
        when = f'{SHELL} && record.body.content.contains("No such file")'
        lesson = hook_add("look-first", when, "list the folder first.")
        run = self.run_codex(
            [OPENING, {"first": [lesson], "calls": [Codex.run("cat missing.txt")]}]
        )
        self.assertEqual(run.heard("look-first: list the folder first."), [0, 0, 1])
        session = self.desk.session()
        session.check(self, calls=2, lessons=["offered"])
        self.assertIn("No such file", session.calls[1]["content"])

    def test_three_calls_at_once_share_one_cap(self):
        self.check_three_calls()

    def test_three_calls_at_once_share_one_cap_of_a_server(self):
        self.desk.serve(self)
        self.check_three_calls()

    def check_three_calls(self):
        lesson = hook_add("twice", SHELL, "no more than twice.", most=2)
        three = [Codex.run(f"echo {number}") for number in ("two", "three", "four")]
        run = self.run_codex([OPENING, {"first": [lesson], "calls": three}])
        self.assertEqual(run.heard("twice: no more than twice."), [0, 0, 2])
        self.assertEqual(len(run.results), 4)
        session = self.desk.session()
        session.check(self, calls=4, lessons=["offered", "offered"])
        session.check_report(self, calls=4, fires=2)

    def test_a_session_taken_up_counts_anew_and_repeats_nothing(self):
        lesson = hook_add("once", SHELL, "say it once.", most=1)
        words = "once: say it once."
        numbers = ("two", "three", "four", "five", "six")
        two, three, four, five, six = (
            {"calls": [Codex.run(f"echo {number}")]} for number in numbers
        )
        first = self.run_codex([OPENING, {**two, "first": [lesson]}, three])
        self.assertEqual(first.heard(words), [0, 0, 1, 1])
        # What was said stands in the history; a new life says it once more, to a call of its own.
        again = self.run_codex([four, five], resume=True)
        self.assertEqual(again.heard(words), [1, 2, 2])
        # The third life begins, and ends, with the very bytes that the second began and ended with.
        third = self.run_codex([six], resume=True)
        self.assertEqual(third.heard(words), [2, 3])
        session = self.desk.session()
        session.check(self, calls=6, lessons=["offered", "offered", "offered"])
        self.assertEqual([call["life"] for call in session.calls], [1, 1, 1, 2, 2, 3])
        self.assertEqual(len(session.of("session.end")), 3)
        session.check_report(self, calls=6, fires=3)

    def test_nothing_fires_before_a_person_trusts_it(self):
        lesson = know("tests-first", SHELL, "run the tests first.")
        run = self.run_codex(
            [OPENING, {"first": [lesson], "calls": [Codex.run("echo two")]}], trusted=False
        )
        self.assertEqual(run.heard("run the tests first."), [0, 0, 0])
        self.assertEqual(self.desk.json("session", "list")["data"], [])
        self.desk.spl("verify")
        row, outcomes = self.desk.doctor(status=2)
        self.assertTrue(row["installed"], row)
        self.assertEqual((row["trust"], outcomes["trust"]), ("absent", "fail"), row)
        self.assertEqual((row["events_since_install"], outcomes["fired"]), (0, "warn"), row)
        self.assertEqual(outcomes["self-test"], "pass", row)


class CodexPolicy(unittest.TestCase):
    """Policy hooks decide before Codex does, and Codex decides after them as ever."""

    def test_a_call_is_denied_and_the_model_is_told_why(self):
        desk = Desk(self, Codex(), policy=NO_RM)
        plan = [OPENING, {"calls": [Codex.run("rm stock.txt")]}, {"calls": [Codex.run("echo two")]}]
        run = desk.run(plan)
        self.assertTrue((desk.shop / "stock.txt").exists())
        self.assertIn("nothing is removed here", run.results[1])
        self.assertIn("two", run.results[2])
        reason = ("preToolUse", "bash", "nothing is removed here")
        self.assertEqual(desk.blocks(), [reason])
        desk.session().check(self, calls=2, lessons=[])
        _, outcomes = desk.doctor(status=2)
        self.assertEqual((outcomes["decides"], outcomes["self-test"]), ("pass", "pass"))

    def test_a_call_that_no_hook_refuses_meets_the_rules_of_codex(self):
        rules = 'prefix_rule(pattern=["touch"], decision="forbidden")\n'
        desk = Desk(self, Codex(rules), policy=NO_RM)
        calls = [Codex.run("touch made.txt"), Codex.run("cp stock.txt made.txt")]
        run = desk.run([OPENING, *({"calls": [call]} for call in calls)], bypass=False)
        self.assertIn("one", run.results[0])
        self.assertIn("policy forbids commands starting with `touch`", run.results[1])
        # And what its rules let pass, its sandbox does not.
        self.assertIn("Read-only file system", run.results[2])
        self.assertFalse((desk.shop / "made.txt").exists())
        self.assertEqual(desk.blocks(), [])

    def test_a_prompt_is_blocked_before_the_model_hears_it(self):
        desk = Desk(self, Codex(), policy=prompt_hook("echo 'not today' >&2; exit 2"))
        run = desk.run([OPENING], silent=True)
        self.assertEqual(run.requests, [])
        self.assertEqual(desk.blocks(), [("userPromptSubmit", None, "not today")])

    def test_what_a_hook_adds_to_a_prompt_is_heard(self):
        desk = Desk(self, Codex(), policy=prompt_hook("""echo '{"additionalContext":"it is frozen"}'"""))
        run = desk.run([OPENING])
        self.assertEqual(run.heard("it is frozen"), [1, 1])
