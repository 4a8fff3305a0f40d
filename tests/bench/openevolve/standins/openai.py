"""Stands in for the client library that OpenEvolve asks models with: enough of it to ask a local server."""
import json
import types
import urllib.request


class OpenAI:
    def __init__(self, base_url=None, **_):
        self.address = base_url.rstrip("/") + "/chat/completions"
        self.chat = types.SimpleNamespace(completions=types.SimpleNamespace(create=self.create))

    def create(self, **parameters):
        body = json.dumps({name: value for name, value in parameters.items() if value is not None}).encode()
        request = urllib.request.Request(self.address, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            said = json.load(response)["choices"][0]["message"]
        message = types.SimpleNamespace(content=said["content"])
        return types.SimpleNamespace(choices=[types.SimpleNamespace(message=message)], usage=None)
