"""Kill -9 under write load: what was acknowledged is there, and the chain verifies.

Each round starts a server on one and the same home, lets several clients write through it and a
command write past it, kills the server at a moment of its own, and then, with no server running,
verifies the store and looks for every record that any client was told is stored.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

WRITERS = 8


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Instance:
    def __init__(self, spl):
        self.spl = os.path.abspath(spl)
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="spl-crash-"))
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "USER": "vera",
            "SYNCROPEL_HOME": str(self.home),
        }
        self.run("init")
        self.token = (self.home / "token").read_text().strip()

    def run(self, *args, check=True):
        done = subprocess.run([self.spl, *args], env=self.env, capture_output=True, text=True)
        if check and done.returncode != 0:
            sys.exit(f"spl {' '.join(args)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def serve(self, port):
        server = subprocess.Popen(
            [self.spl, "serve", "--foreground", "--port", str(port)],
            env=self.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    return server
            except OSError:
                if server.poll() is not None:
                    sys.exit(f"the server did not start: {server.returncode}")


class Load:
    """Clients that write until the server is gone, and remember what they were told."""

    def __init__(self, instance, port, number):
        self.instance = instance
        self.port = port
        self.number = number
        self.acknowledged = []
        self.enough = threading.Event()
        self.threads = [
            threading.Thread(target=self.write, args=(writer,)) for writer in range(WRITERS)
        ]
        self.threads.append(threading.Thread(target=self.write_past_the_server))

    def write(self, writer):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers = {
            "Authorization": f"Bearer {self.instance.token}",
            "Content-Type": "application/json",
        }
        for clock in range(1_000_000):
            envelope = {
                "act": "KNOW",
                "actor": f"did:sync:user:writer-{writer}",
                "thread": f"th_round_{self.number}",
                "clock": clock,
                "body": {"text": f"{self.number} {writer} {clock}"},
            }
            try:
                connection.request("POST", "/v1/records", json.dumps(envelope), headers)
                response = connection.getresponse()
                answer = json.loads(response.read())
            except (OSError, http.client.HTTPException, ValueError):
                return
            if response.status != 201:
                sys.exit(f"unexpected answer {response.status}: {answer}")
            self.acknowledged.append(answer["id"])
            if len(self.acknowledged) >= 50:
                self.enough.set()

    def write_past_the_server(self):
        thread = f"th_round_{self.number}"
        done = self.instance.run(
            "-o", "json", "know", "past the server", "--thread", thread, check=False
        )
        if done.returncode == 0:
            self.acknowledged.append(json.loads(done.stdout)["id"])


def missing(home, ids):
    """Asks the file itself, with another program's eyes."""
    import sqlite3

    store = sqlite3.connect(f"file:{home}/hub.db?mode=ro", uri=True)
    there = {row[0].hex() for row in store.execute("SELECT id FROM records")}
    store.close()
    return [record for record in ids if record not in there]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--spl", default="target/release/spl")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    moments = random.Random(options.seed)
    instance = Instance(options.spl)
    acknowledged = []
    started = time.monotonic()
    for number in range(options.rounds):
        port = free_port()
        server = instance.serve(port)
        load = Load(instance, port, number)
        for thread in load.threads:
            thread.start()
        load.enough.wait(timeout=30)
        # Then some moment in the middle of the load, different each round.
        threading.Event().wait(timeout=moments.uniform(0, 0.2))
        server.send_signal(signal.SIGKILL)
        server.wait()
        for thread in load.threads:
            thread.join()
        acknowledged += load.acknowledged
        verified = instance.run("verify", check=False)
        if verified.returncode != 0:
            sys.exit(f"round {number}: {verified.stdout}{verified.stderr}")
        lost = missing(instance.home, acknowledged)
        if lost:
            sys.exit(f"round {number}: {len(lost)} acknowledged records are gone: {lost[:3]}")
        done = number + 1
        if sys.stdout.isatty() or done % 10 == 0:
            end = "\r" if sys.stdout.isatty() else "\n"
            told = len(acknowledged)
            print(f"round {done} of {options.rounds}: {told} acknowledged, none lost", end=end)
    print(f"{options.rounds} kills in {time.monotonic() - started:.0f} s; every verify passed")
    shutil.rmtree(instance.home)


if __name__ == "__main__":
    main()
