"""An MCP server that goes wrong on demand. Usage: faulty.py [mode ...]

Over standard input and output, a message a line; with the mode `http`, over streamable HTTP, its
port printed on the first line of standard output.
"""

import http.server
import json
import os
import signal
import subprocess
import sys
import time

MODES = set(sys.argv[1:])


def tool(name, properties=None, **more):
    schema = {"type": "object", "properties": properties or {}, **more}
    return {"name": name, "description": f"It is {name}.", "inputSchema": schema}


def tools():
    text = {"text": {"type": "string", "pattern": "^[a-z]+$"}}
    listed = [tool("echo", text, required=["text"])]
    listed += [tool(name) for name in ("die", "flood", "hang", "huge", "rename", "fail", "env")]
    listed += [tool(name) for name in ("garbage", "refuse", "picture", "lying")]
    if "renamed" in MODES:
        listed = [tool("shout", text, required=["text"])]
    if "twice" in MODES:
        listed = [tool("a b"), tool("a_b"), tool("a b")]
        listed += [tool("remote", {"a": {"$ref": "https://example.org/schema.json"}})]
        listed += [{"name": "odd", "inputSchema": {"type": "nonsense"}}]
    return listed


def note(message):
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


def remember(message):
    with open(os.environ["NOTES"], "a") as notes:
        notes.write(message + "\n")


def call(name, arguments):
    """Returns the result of a call, or None for none."""
    if name == "echo" and "renamed" not in MODES:
        return text(arguments["text"])
    if name == "die":
        note("about to die")
        os._exit(3)
    if name == "flood":
        for _ in range(256):
            sys.stderr.write(("x" * 1023 + "\n") * 16)
        return text("flooded")
    if name == "hang":
        remember("hanging")
        return None
    if name == "huge":
        return text("start" + "y" * (4 << 20) + "end")
    if name == "rename":
        MODES.add("renamed")
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return text("renamed")
    if name == "lying":
        MODES.add("renamed")
        return text("renamed, and nobody was told")
    if name == "fail":
        return {**text("it cannot be done"), "isError": True}
    if name == "env":
        return text("\n".join(f"{key}={value}" for key, value in sorted(os.environ.items())))
    if name == "garbage":
        sys.stdout.write("this is {no JSON\n\n[1,2\n")
        sys.stdout.flush()
        return text("after garbage")
    if name == "picture":
        return {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}],
                "structuredContent": {"width": 1}}
    raise KeyError(name)


def text(text):
    return {"content": [{"type": "text", "text": text}]}


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(message):
    """Returns the response to a message, or None for none."""
    method, params = message.get("method"), message.get("params") or {}
    if method == "notifications/cancelled":
        remember("cancelled")
    if "id" not in message:
        return None
    if method == "initialize":
        if "slow" in MODES:
            time.sleep(600)
        if "mute" in MODES:
            return None
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "faulty", "version": "1"},
        }
    elif method == "tools/list":
        if "endless" in MODES:
            result = {"tools": tools(), "nextCursor": "on"}
        else:
            result = {"tools": tools()}
    elif method == "tools/call":
        try:
            result = call(params["name"], params.get("arguments") or {})
        except KeyError as error:
            wrong = {"code": -32602, "message": f"no such tool or argument: {error}"}
            return {"jsonrpc": "2.0", "id": message["id"], "error": wrong}
        if result is None:
            return None
    else:
        result = {}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def over_stdio():
    if "stubborn" in MODES:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
        with open(os.environ["NOTES"], "w") as notes:
            notes.write(f"{os.getpid()} {child.pid}\n")
    if "broken" in MODES:
        note("cannot read my settings: " + os.environ.get("API_KEY", ""))
        sys.exit(7)
    for line in sys.stdin:
        response = answer(json.loads(line))
        if response is not None:
            send(response)
    while "stubborn" in MODES:
        time.sleep(600)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Authorization") != "Bearer s3cret-bearer":
            return self.reply(401, b"who are you, " + self.headers.get("X-Key", "").encode())
        if "redirect" in MODES:
            self.send_response(307)
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        message = json.loads(body)
        if message.get("method") == "tools/call" and message["params"]["name"] == "hang":
            time.sleep(600)
        response = answer(message)
        if response is None:
            return self.reply(202, b"")
        self.reply(200, json.dumps(response).encode(), "application/json")

    def do_GET(self):
        self.reply(405, b"")

    def do_DELETE(self):
        self.reply(405, b"")

    def reply(self, status, body, kind="text/plain"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if "http" in MODES:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()
else:
    over_stdio()
