"""opencode hears lessons through a plugin."""

import unittest

from clients import Opencode
from desk import Desk, know

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
