"""One run of one client, in a network namespace that has loopback and nothing else.

In: a scenario file, `{"plan", "log", "port", "argv", "env", "cwd", "seconds", "stdout", "stderr"}`.
Out: the files that it names, and one line of JSON: the client's status (null if it was ended because
its time was up), the seconds that it took, and whether what it left behind ended by itself. This is
the first process of its namespace, so what outlives the client is its child, and ends with it.
"""

import fcntl
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from model import Model

# Of <linux/sockios.h> and <linux/if.h>.
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
# Seconds for what a client leaves behind.
PATIENCE = 10


def raise_loopback():
    names = [name for _, name in socket.if_nameindex()]
    if names != ["lo"]:
        sys.exit(f"this is no namespace of its own: it has {', '.join(names)}")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sH22x", b"lo", 0)
        flags = struct.unpack("16sH22x", fcntl.ioctl(handle, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags | IFF_UP))


def left_alone():
    """Waits for what the client left behind, such as a hook that it does not wait for itself."""

    def late(_signal, _frame):
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        while True:
            os.wait()
    except ChildProcessError:
        return True
    except TimeoutError:
        return False
    finally:
        signal.alarm(0)


def main(scenario):
    raise_loopback()
    with open(scenario["log"], "w") as log:
        model = Model(scenario["port"], scenario["plan"], log)
        threading.Thread(target=model.serve_forever, daemon=True).start()
        began = time.monotonic()
        with open(scenario["stdout"], "wb") as stdout, open(scenario["stderr"], "wb") as stderr:
            try:
                status = subprocess.run(
                    scenario["argv"],
                    env=scenario["env"],
                    cwd=scenario["cwd"],
                    timeout=scenario["seconds"],
                    stdin=subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=stderr,
                ).returncode
            except subprocess.TimeoutExpired:
                status = None
        took = time.monotonic() - began
        alone = left_alone()
        model.shutdown()
    print(json.dumps({"status": status, "seconds": took, "alone": alone}))


main(json.loads(pathlib.Path(sys.argv[1]).read_text()))
