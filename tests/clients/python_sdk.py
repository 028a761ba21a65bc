"""What the published Python SDK needs of the server (contract 2.11), against a real one."""

import asyncio
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest
import urllib.request

from syncropel import Client, Identity

SPL = os.environ["SPL_BINARY"]
ACTOR = "did:sync:user:vera"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server with a home of its own."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="spl-")
        self.port = free_port()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": self.home,
            "USER": "vera",
            "SYNCROPEL_HOME": self.home,
        }
        self.spl("init")
        self.token = pathlib.Path(self.home, "token").read_text().strip()
        self.start()

    def spl(self, *args):
        done = subprocess.run([SPL, *args], env=self.env, capture_output=True, text=True)
        assert done.returncode == 0, done
        return done.stdout

    def start(self):
        self.spl("serve", "--daemon", "--port", str(self.port))

    def stop(self):
        self.spl("serve", "--stop")

    def kill(self):
        pid = int(pathlib.Path(self.home, "run/spl.pid").read_text())
        os.kill(pid, signal.SIGKILL)
        while pathlib.Path(f"/proc/{pid}").exists() and b"Z" not in state_of(pid):
            pass

    def end(self):
        subprocess.run([SPL, "serve", "--stop"], env=self.env, capture_output=True)
        shutil.rmtree(self.home)

    def get(self, path):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            headers={"Authorization": f"Bearer {self.token}"},
        )
        return json.load(urllib.request.urlopen(request))

    def hooks_loaded(self):
        return self.get("/v1/engine/health")["work_loop"]["hooks_loaded"]

    def client(self, **options):
        return Client(
            endpoint=f"http://127.0.0.1:{self.port}",
            identity=Identity.static(ACTOR),
            api_key=self.token,
            **options,
        )


def state_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_bytes().rsplit(b")", 1)[1].split()[0]
    except FileNotFoundError:
        return b"Z"


class PythonSdk(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.end)

    async def emit(self, client, clock, thread="th_sdk", text="hello"):
        return await client.emit(
            act="KNOW", kind="x.note.text", body={"text": text}, thread=thread, clock=clock
        )

    async def test_a_record_is_emitted_and_read_back(self):
        async with self.server.client() as client:
            result = await self.emit(client, 3)
            self.assertTrue(result.success, result.error)
            self.assertEqual(result.clock, 3)
            records = await client.query_thread("th_sdk")
            self.assertEqual([r["id"] for r in records], [result.record_id])
            self.assertEqual(records[0]["body"]["text"], "hello")

    async def test_numbers_survive_as_the_client_hashes_them(self):
        from syncropel.hashing import record_id

        envelope = {
            "act": "KNOW",
            "actor": ACTOR,
            "body": {"kind": "x.note.text", "_v": 1, "n": [1.0, 1e22, 1e-05, 2**64, -0.0]},
            "clock": 1,
            "data_type": "SCALAR",
            "parents": [],
            "thread": "th_numbers",
        }
        async with self.server.client() as client:
            body = {key: value for key, value in envelope["body"].items() if key != "kind"}
            result = await client.emit(
                act="KNOW", kind="x.note.text", body=body, thread="th_numbers", clock=1
            )
            self.assertTrue(result.success, result.error)
            self.assertEqual(result.record_id, record_id(envelope))

    async def test_the_same_envelope_again_is_a_success(self):
        async with self.server.client() as client:
            first = await self.emit(client, 7)
            again = await self.emit(client, 7)
            self.assertTrue(again.success, again.error)
            self.assertEqual(first.record_id, again.record_id)
            self.assertEqual(len(await client.query_thread("th_sdk")), 1)

    async def test_a_duplicate_clock_is_told_as_one(self):
        async with self.server.client() as client:
            await self.emit(client, 7)
            other = await self.emit(client, 7, text="something else")
            self.assertFalse(other.success)
            self.assertIn("HTTP 400", other.error)
            self.assertIn("DuplicateClock", other.error[:210])

    async def test_queries_find_what_was_emitted(self):
        async with self.server.client() as client:
            for clock in range(5):
                await self.emit(client, clock)
            self.assertEqual(len(await client.query(thread="th_sdk")), 5)
            self.assertEqual(len(await client.query(actor=ACTOR, limit=3)), 3)
            found = await client.rich_query(
                filter={"body.kind": "x.note.text", "clock": {"$gte": 2}},
                thread="th_sdk",
                sort={"clock": -1},
                explain=True,
            )
            self.assertEqual([r["clock"] for r in found["records"]], [4, 3, 2])
            self.assertIn("sql", found["plan"])

    async def test_search_is_disabled_and_says_so(self):
        async with self.server.client() as client:
            self.assertTrue((await client.search("anything"))["disabled"])

    async def test_health_is_an_object(self):
        async with self.server.client() as client:
            self.assertEqual((await client.health())["status"], "ok")

    async def test_a_hook_written_by_the_sdk_loads(self):
        self.assertEqual(self.server.hooks_loaded(), 0)
        async with self.server.client() as client:
            body = {
                "topic": "hook",
                "name": "shell-failed",
                "when": 'record.body.tool == "bash" && record.body.status != "ok"',
                "text": "${tool} ended with ${status}; read stderr first.",
            }
            result = await client.emit(
                act="LEARN", kind="core.hook.v1", body=body, thread="th_engine_config"
            )
            self.assertTrue(result.success, result.error)
            self.assertEqual(self.server.hooks_loaded(), 1)
            refused = await client.emit(
                act="LEARN",
                kind="core.hook.v1",
                body={**body, "priority": 1},
                thread="th_engine_config",
            )
            self.assertFalse(refused.success)
            self.assertIn("HTTP 422", refused.error)
            self.assertIn("priority", refused.error)
            self.assertEqual(self.server.hooks_loaded(), 1)

    async def test_the_three_ways_of_writing_a_hook_move_the_count_by_one_each(self):
        body = {"kind": "core.hook.v1", "topic": "hook", "when": "true", "text": "t"}
        self.server.spl(
            "know", "--thread", "th_engine_config", "--actor", "did:sync:system:engine",
            "--act", "LEARN", "--body", json.dumps({**body, "name": "by-command"}),
        )
        self.assertEqual(self.server.hooks_loaded(), 1)
        envelope = {
            "act": "LEARN", "actor": ACTOR, "thread": "th_engine_config", "clock": 1,
            "body": {**body, "name": "by-http"},
        }
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.server.port}/v1/records",
            data=json.dumps(envelope).encode(),
            headers={
                "Authorization": f"Bearer {self.server.token}",
                "Content-Type": "application/json",
            },
        )
        self.assertEqual(urllib.request.urlopen(request).status, 201)
        self.assertEqual(self.server.hooks_loaded(), 2)
        async with self.server.client() as client:
            del body["kind"]
            await client.emit(
                act="LEARN", kind="core.hook.v1", body={**body, "name": "by-sdk"},
                thread="th_engine_config",
            )
        self.assertEqual(self.server.hooks_loaded(), 3)

    async def test_a_subscription_hears_resumes_and_outlives_the_server(self):
        heard = asyncio.Queue()
        opened = asyncio.Queue()
        errors = asyncio.Queue()
        async with self.server.client() as client:
            subscription = client.subscribe(
                "th_sdk",
                lambda record: heard.put_nowait(record["body"]["text"]),
                on_open=lambda: opened.put_nowait(True),
                on_error=lambda error: errors.put_nowait(error.reason),
                reconnect_base_s=0.05,
                reconnect_max_s=0.2,
            )
            await asyncio.wait_for(opened.get(), 10)
            await self.emit(client, 0, text="one")
            separators = "two \u0085 \u2028 \u2029 lines"
            await self.emit(client, 1, text=separators)
            self.assertEqual(await asyncio.wait_for(heard.get(), 10), "one")
            self.assertEqual(await asyncio.wait_for(heard.get(), 10), separators)

            # Another process writes, past the server.
            self.server.spl("know", "three", "--thread", "th_sdk")
            self.assertEqual(await asyncio.wait_for(heard.get(), 10), "three")

            # The server goes away without a word; what is written meanwhile is not missed.
            self.server.kill()
            self.assertEqual(await asyncio.wait_for(errors.get(), 10), "transport_error")
            self.server.spl("know", "four", "--thread", "th_sdk")
            self.server.start()
            self.assertEqual(await asyncio.wait_for(heard.get(), 20), "four")

            # An orderly stop is announced.
            while not errors.empty():
                errors.get_nowait()
            await asyncio.to_thread(self.server.stop)
            self.assertEqual(await asyncio.wait_for(errors.get(), 10), "server_shutdown")
            subscription.close()
            await subscription.wait_closed()


if __name__ == "__main__":
    unittest.main()
