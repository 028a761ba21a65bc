"""How each harness is set up and started, so that it asks the model of the test and nobody else.

In: a home and a workspace, both fresh. Out: settings files, a command line, an environment.
"""

import json
import os
import pathlib

from wire import Completions, Gemini, Responses

CLIENTS = pathlib.Path(os.environ["CLIENTS"])
MODULES = CLIENTS / "clients/node_modules"
# Each run has a network of its own, so the port is free.
PORT = 8080
SERVER = f"http://127.0.0.1:{PORT}"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class Codex:
    harness = "codex"
    wire = Responses
    shell = "Bash"

    CONFIG = f"""\
model = "mock-model"
model_provider = "mock"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
[model_providers.mock]
name = "mock"
base_url = "{SERVER}/v1"
env_key = "MOCK_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
"""
    env = {"MOCK_KEY": "x"}

    def __init__(self, rules=None):
        self.rules = rules

    def settle(self, home):
        write(home / ".codex/config.toml", self.CONFIG)
        if self.rules:
            write(home / ".codex/rules/default.rules", self.rules)

    def start(self, prompt, trusted=True, resume=False, bypass=True):
        command = [str(MODULES / ".bin/codex"), "exec"]
        if resume:
            command += ["resume", "--last"]
        command.append("--skip-git-repo-check")
        if bypass:
            command.append("--dangerously-bypass-approvals-and-sandbox")
        if trusted:
            command.append("--dangerously-bypass-hook-trust")
        return [*command, prompt]

    @staticmethod
    def run(command):
        return {"name": "exec_command", "args": {"cmd": command}}


class GeminiCli:
    harness = "gemini"
    wire = Gemini
    shell = "run_shell_command"
    env = {"GEMINI_API_KEY": "mock", "GOOGLE_GEMINI_BASE_URL": SERVER}

    def settle(self, home):
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
        }
        write(home / ".gemini/settings.json", json.dumps(settings, indent=2))

    def start(self, prompt):
        gemini = str(MODULES / ".bin/gemini")
        return [gemini, "-m", "gemini-2.5-flash", "--yolo", "--skip-trust", "-p", prompt]

    @staticmethod
    def run(command):
        return {"name": "run_shell_command", "args": {"command": command}}

    @staticmethod
    def read(path):
        return {"name": "read_file", "args": {"file_path": str(path)}}


class Qwen:
    harness = "qwen"
    wire = Completions
    shell = "run_shell_command"
    env = {
        "OPENAI_API_KEY": "x",
        "OPENAI_BASE_URL": f"{SERVER}/v1",
        "OPENAI_MODEL": "mock-model",
    }

    def __init__(self, deny=()):
        self.deny = list(deny)

    def settle(self, home):
        settings = {
            "permissions": {"deny": self.deny},
            "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
        }
        write(home / ".qwen/settings.json", json.dumps(settings, indent=2))

    def start(self, prompt):
        return [str(MODULES / ".bin/qwen"), "--auth-type", "openai", "-y", "-p", prompt]

    @staticmethod
    def run(command):
        args = {"command": command, "is_background": False, "description": "the test's"}
        return {"name": "run_shell_command", "args": args}


class Opencode:
    harness = "opencode"
    wire = Completions
    shell = "bash"
    env = {
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }

    def settle(self, home):
        model = {"name": "mock", "limit": {"context": 100000, "output": 4000}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{SERVER}/v1", "apiKey": "x"},
            "models": {"mock-model": model},
        }
        config = home / ".config/opencode"
        write(config / "opencode.json", json.dumps({"provider": {"mock": provider}}, indent=2))
        # Without it opencode asks the registry for it at its first start.
        for name in ("package.json", "package-lock.json"):
            write(config / name, (CLIENTS / "plugin" / name).read_text())
        (config / "node_modules").symlink_to(CLIENTS / "plugin/node_modules")

    def start(self, prompt):
        # Its own launcher is made by an install script. The plainest build runs on every machine.
        built = [path for path in MODULES.glob("opencode-linux-*") if "musl" not in path.name]
        binary = max(built, key=lambda path: len(path.name)) / "bin/opencode"
        return [str(binary), "run", "-m", "mock/mock-model", "--auto", prompt]

    @staticmethod
    def run(command):
        return {"name": "bash", "args": {"command": command, "description": "the test's"}}
