"""Changes copies of a store with the `sqlite3` tool and asks `spl verify` what it sees."""

import http.client
import json
import os
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile

ROUNDS, SPL = int(sys.argv[1]), sys.argv[2]
SEED = int(os.environ.get("TAMPER_SEED", random.randrange(2**32)))
TOOL = shutil.which("sqlite3")

# What can be done to one value of a column, so that it is another one.
COLUMNS = {
    "id": ["randomblob(32)", "zeroblob(32)"],
    "thread": ["thread || 'x'"],
    "actor": ["actor || 'x'", "'did:sync:system:engine'"],
    "act": ["CASE act WHEN 'DO' THEN 'KNOW' ELSE 'DO' END"],
    "clock": ["clock + 1000000"],
    "data_type": ["'VECTOR'"],
    "namespace": ["namespace || 'x'"],
    "kind": ["coalesce(kind, '') || 'x'"],
    "verdict": ["coalesce(verdict, '') || 'x'"],
    "canonical": [
        "replace(canonical, 'a', 'b')",
        "canonical || ' '",
        "substr(canonical, 2)",
    ],
    "judged_by": ["coalesce(judged_by, '') || 'x'"],
    "received_at": ["received_at + 1"],
    "origin": ["CASE origin WHEN 'door' THEN 'engine' ELSE 'door' END"],
    "signer": ["'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'"],
    "sig": ["randomblob(64)"],
    "chain": ["randomblob(32)"],
    "unproven": ["coalesce(unproven, '') || 'x'"],
}
NAMES = ", ".join(COLUMNS)


class Home:
    def __init__(self, folder):
        self.folder = folder
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "USER": "vera",
            "SYNCROPEL_HOME": os.path.join(folder, "home"),
        }

    def path(self, name):
        return os.path.join(self.folder, name)

    def spl(self, *arguments, status=(0,), env=None):
        done = subprocess.run(
            [SPL, *arguments], env=env or self.env, capture_output=True, text=True
        )
        if done.returncode not in status:
            sys.exit(f"spl {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def fault(self, store, *arguments):
        said = self.spl("-o", "json", "verify", "--store", store, *arguments, status=(0, 1))
        return json.loads(said)["fault"]


class Socket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def fill(home, count):
    """Writes notes over the socket of a server, one after another."""
    home.spl("serve", "--daemon", "--port", "0")
    connection = Socket(os.path.join(home.env["SYNCROPEL_HOME"], "run/spl.sock"))
    for clock in range(count):
        record = {
            "act": random.choice(["KNOW", "DO", "LEARN"]),
            "actor": random.choice(["did:sync:user:vera", "did:sync:agent:clerk", "somebody"]),
            "thread": f"th_{clock % 7}",
            "clock": clock,
            "body": {"text": f"a note, the {clock}th", "kind": "x.note.made"},
        }
        if clock % 5 == 0:
            record["judged_by"] = "judge"
        if record["actor"] == "somebody" and clock % 2 == 0:
            record["sig"] = "00" * 64
        body = json.dumps(record)
        connection.request("POST", "/v1/records", body, {"content-type": "application/json"})
        answer = connection.getresponse()
        said = answer.read()
        if answer.status != 201:
            sys.exit(f"{answer.status} {said}")
    connection.close()
    home.spl("serve", "--stop")


def rows(path):
    with sqlite3.connect(path) as connection:
        return connection.execute("SELECT max(seq) FROM records").fetchone()[0]


def triggers(path):
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    connection.close()
    return "".join(f"DROP TRIGGER {name};" for (name,) in found)


def change(path, sql):
    sql = triggers(path) + sql
    if TOOL:
        subprocess.run([TOOL, "-bail", path, sql], check=True, capture_output=True)
    else:
        connection = sqlite3.connect(path)
        connection.executescript(sql)
        connection.close()


def tampering(last):
    """Returns something to do to a store, and the row that is then the first bad one."""
    row = random.randint(1, last)
    kind = random.choice(["flip", "flip", "flip", "drop", "cut", "swap", "insert", "append"])
    if kind == "flip":
        column = random.choice(list(COLUMNS))
        value = random.choice(COLUMNS[column])
        return f"UPDATE records SET {column} = {value} WHERE seq = {row};", row
    if kind == "drop":
        return f"DELETE FROM records WHERE seq = {row};", row
    if kind == "cut":
        return f"DELETE FROM records WHERE seq >= {row};", row
    if kind == "swap":
        other = random.choice([seq for seq in range(1, last + 1) if seq != row])
        return (
            f"UPDATE records SET seq = -1 WHERE seq = {row};"
            f"UPDATE records SET seq = {row} WHERE seq = {other};"
            f"UPDATE records SET seq = {other} WHERE seq = -1;"
        ), min(row, other)
    forged = NAMES.replace("id", "randomblob(32)", 1).replace("clock", "clock + 7777777", 1)
    if kind == "append":
        return (
            f"INSERT INTO records (seq, {NAMES})"
            f" SELECT {last} + 1, {forged} FROM records WHERE seq = {row};"
        ), last + 1
    return (
        f"UPDATE records SET seq = -seq - 1 WHERE seq >= {row};"
        f"UPDATE records SET seq = -seq WHERE seq < 0;"
        f"INSERT INTO records (seq, {NAMES})"
        f" SELECT {row}, {forged} FROM records WHERE seq = {row} + 1;"
    ), row


def main():
    random.seed(SEED)
    print(f"seed {SEED}, with {TOOL or 'the module of Python'}")
    with tempfile.TemporaryDirectory() as folder:
        home = Home(folder)
        home.spl("init")
        home.spl("identity", "generate", "did:sync:agent:clerk")
        fill(home, 1100)
        written = home.spl("-o", "json", "know", "a thing that matters", "--thread", "th_proof")
        home.spl("proof", json.loads(written)["id"], "--out", home.path("before.proof"))
        home.spl("backup", home.path("older.db"))
        home.spl("know", "what came after", "--thread", "th_proof")
        with open(home.path("head.json"), "w") as file:
            file.write(home.spl("verify", "--head"))
        home.spl("backup", home.path("whole.db"))
        last = rows(home.path("whole.db"))
        assert home.fault(home.path("whole.db"), "--against", home.path("head.json")) is None

        copy = home.path("copy.db")
        for _ in range(ROUNDS):
            shutil.copy(home.path("whole.db"), copy)
            sql, bad = tampering(last)
            change(copy, sql)
            fault = home.fault(copy)
            if fault is None or fault["sequence"] != bad:
                sys.exit(f"{sql}\nthe first bad row is {bad}; found: {fault}")

        # A store that was put back is whole in itself; a head or a proof that was kept tells.
        older = home.path("older.db")
        assert home.fault(older) is None, "an older store is whole in itself"
        fault = home.fault(older, "--against", home.path("head.json"))
        assert fault and fault["sequence"] == rows(older) + 1, fault
        assert home.fault(older, "--against", home.path("before.proof")) is None

        # The proof checks where there is no instance, and stops checking when it is touched.
        elsewhere = {"PATH": os.environ["PATH"], "HOME": home.path("nowhere")}
        proof = home.path("before.proof")
        key = json.loads(home.spl("-o", "json", "verify", "--proof", proof))["instance"]
        home.spl("verify", "--proof", proof, "--key", key, env=elsewhere)
        whole = open(proof, "rb").read()
        for _ in range(20):
            touched = bytearray(whole)
            touched[random.randrange(len(whole) - 1)] ^= 1 << random.randrange(7)
            with open(home.path("touched.proof"), "wb") as file:
                file.write(touched)
            home.spl(
                "verify", "--proof", home.path("touched.proof"), status=(1, 4), env=elsewhere
            )
        print(f"{ROUNDS} changes to {last} rows, each named by its first bad row")


main()
