"""A loop in Python that hears the lessons of spl. It needs the standard library and a server."""

import json, os, pathlib, subprocess, urllib.request, uuid

URL = os.environ.get("SPL_SERVE_URL", "http://127.0.0.1:9100")
HOME = pathlib.Path(os.environ.get("SYNCROPEL_HOME", pathlib.Path.home() / ".syncro"))
HEADERS = {
    "Authorization": "Bearer " + (HOME / "token").read_text().strip(),
    "Content-Type": "application/json",
}
RUN = f"th_{uuid.uuid4().hex}"  # the name of this run; its records stand there

def observe(call_id, tool, args, status, content):
    """Tells of a call that has returned, and returns the words that the hooks have for it."""
    call = {"call_id": call_id, "tool": tool, "args": args, "status": status, "content": content}
    url = f"{URL}/v1/runs/{RUN}/observe"
    with urllib.request.urlopen(
        urllib.request.Request(url, json.dumps(call).encode(), HEADERS)
    ) as answer:
        return [f"{said['rule']}: {said['text']}" for said in json.load(answer)["data"]]

def bash(command):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return "ok" if done.returncode == 0 else "error", done.stdout + done.stderr

for turn, command in enumerate(["ls /nowhere", "echo fine"]):  # in place of a model
    status, content = bash(command)
    print(f"$ {command}\n{content.strip()}")
    for words in observe(f"call-{turn}", "bash", {"command": command}, status, content):
        print(words)  # goes to the model with the result, on its next turn
