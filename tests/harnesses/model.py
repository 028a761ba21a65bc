"""A model that plays a plan, for one run of one client.

In: a plan, which is a list of steps `{"calls": [{"name", "args"}], "first": [[command, argument…]]}`.
A step answers one request: its commands are run first, then its calls are made; several calls of one
step are parallel. Which step is due is told by how many tool results the conversation holds beyond
those of the first request, so a client that asks twice is answered twice alike. After the last step
the model says `MOCK-FINAL`; the commands of a step without calls run before it says so.
Out: each request's body as a line of the log, and what went wrong, if anything did.
"""

import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from wire import FORMATS

FINAL = "MOCK-FINAL"


class Model(ThreadingHTTPServer):
    def __init__(self, port, plan, log):
        super().__init__(("127.0.0.1", port), Handler)
        self.plan = plan
        self.log = log
        self.lock = threading.Lock()
        self.before = None
        self.done = set()

    def play(self, wire, body):
        """The answer to one request."""
        with self.lock:
            # A request without tools wants a title or a summary; it is no turn of the run.
            if not body.get("tools"):
                return wire.answer("aside", [], FINAL)
            self.log.write(json.dumps(body) + "\n")
            self.log.flush()
            results = len(wire.results(body))
            if self.before is None:
                self.before = results
            index = self.due(results - self.before)
            step = self.plan[index] if index < len(self.plan) else {}
            if index not in self.done:
                self.done.add(index)
                for command in step.get("first", []):
                    subprocess.run(command, check=True, capture_output=True, timeout=20)
            # The number of results is never the same twice, also when a session is taken up.
            return wire.answer(results, step.get("calls", []), FINAL)

    def due(self, results):
        """The index of the step that comes after so many results."""
        for index, step in enumerate(self.plan):
            if results <= 0:
                return index
            results -= len(step.get("calls", []))
        return len(self.plan)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        wire = next((wire for wire in FORMATS if wire.speaks(self.path)), None)
        if wire is None:
            return self.send(404, "application/json", "{}")
        try:
            answer = self.server.play(wire, json.loads(body))
        except (subprocess.SubprocessError, OSError, ValueError, LookupError) as error:
            said = getattr(error, "stderr", None) or b""
            with self.server.lock:
                trouble = f"{error!r} {said.decode(errors='replace')}"
                self.server.log.write(json.dumps({"trouble": trouble}) + "\n")
                self.server.log.flush()
            return self.send(400, "application/json", '{"error":{"message":"the plan failed"}}')
        return self.send(200, "text/event-stream", answer)

    def do_GET(self):
        self.send(404, "application/json", "{}")

    def send(self, status, kind, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass
