"""Three wire formats of model providers, as far as the harnesses use them.

In: the path and the body of a request. Out: what the conversation holds so far, and the text of an
answer that calls tools or says something. The ids of an answer's calls are made from its name.
"""

import json


def strings(value):
    """Every string in a JSON value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def text_of(value):
    return "\n".join(strings(value))


class Responses:
    """`/v1/responses`, which Codex speaks."""

    @staticmethod
    def speaks(path):
        return path.endswith("/responses")

    @staticmethod
    def results(body):
        """The text of each tool's answer in the conversation."""
        return [
            text_of(item["output"])
            for item in body["input"]
            if item.get("type") == "function_call_output"
        ]

    @staticmethod
    def asides(body):
        """What stands in the conversation as a developer's message."""
        return [text_of(item["content"]) for item in body["input"] if item.get("role") == "developer"]

    @staticmethod
    def answer(name, calls, text):
        items = []
        for index, call in enumerate(calls):
            item = {
                "type": "function_call",
                "id": f"fc_{name}_{index}",
                "call_id": f"call_{name}_{index}",
                "name": call["name"],
                "arguments": json.dumps(call["args"]),
            }
            items.append(item)
        if not calls:
            content = [{"type": "output_text", "text": text, "annotations": []}]
            item = {"type": "message", "id": f"msg_{name}", "role": "assistant", "content": content}
            items.append(item)
        response = f"resp_{name}"
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        events = [{"type": "response.created", "response": {"id": response}}]
        events += [{"type": "response.output_item.done", "item": item} for item in items]
        events.append({"type": "response.completed", "response": {"id": response, "usage": usage}})
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


class Completions:
    """`/v1/chat/completions`, which Qwen Code and opencode speak."""

    @staticmethod
    def speaks(path):
        return path.endswith("/chat/completions")

    @staticmethod
    def results(body):
        return [text_of(m["content"]) for m in body["messages"] if m["role"] == "tool"]

    @staticmethod
    def asides(_body):
        return []

    @staticmethod
    def answer(name, calls, text):
        delta = {"role": "assistant", "content": text}
        if calls:
            delta["tool_calls"] = [
                {
                    "index": index,
                    "id": f"call_{name}_{index}",
                    "type": "function",
                    "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
                }
                for index, call in enumerate(calls)
            ]
        reason = "tool_calls" if calls else "stop"
        head = {"id": f"chat_{name}", "object": "chat.completion.chunk", "created": 0}
        head["model"] = "mock-model"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        chunks = [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            {**head, "choices": [], "usage": usage},
        ]
        return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


class Gemini:
    """`…:streamGenerateContent`, which Gemini CLI speaks."""

    @staticmethod
    def speaks(path):
        return path.split("?")[0].endswith(":streamGenerateContent")

    @staticmethod
    def results(body):
        return [
            text_of(part["functionResponse"]["response"])
            for content in body["contents"]
            for part in content["parts"]
            if "functionResponse" in part
        ]

    @staticmethod
    def asides(_body):
        return []

    @staticmethod
    def answer(name, calls, text):
        parts = [{"functionCall": {"name": call["name"], "args": call["args"]}} for call in calls]
        content = {"role": "model", "parts": parts or [{"text": text}]}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        event = {
            "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
            "usageMetadata": usage,
            "modelVersion": "mock-model",
        }
        return f"data: {json.dumps(event)}\n\n"


FORMATS = (Responses, Completions, Gemini)
