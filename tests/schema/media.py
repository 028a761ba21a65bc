"""How lines of JSON are sent, and what the tool does not do to itself."""

import hashlib
import json
import os

import schemathesis

SECRET = os.environ.get("SPL_BEARER", "_").rsplit("_", 1)[1]
# The account that asks, and its token, by every name that a path may call them.
OWN = {"admin", "sa-admin", hashlib.sha256(SECRET.encode()).hexdigest()}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Takes nobody's key away that the tool asks with, so that it is somebody until the end."""
    named = case.path_parameters or {}
    if case.method != "GET" and named.get("id") in OWN:
        case.path_parameters = {**named, "id": "somebody-else"}


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    if isinstance(value, bytes):
        return value
    things = value if isinstance(value, list) else [value]
    return "\n".join(json.dumps(thing) for thing in things).encode("utf-8", "replace")
