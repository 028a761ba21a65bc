"""How a transcript is sent: a line of JSON for each thing in it."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    if isinstance(value, bytes):
        return value
    things = value if isinstance(value, list) else [value]
    return "\n".join(json.dumps(thing) for thing in things).encode("utf-8", "replace")
