"""A real Firefox for tests, without a network and without a driver: it is spoken to by its own Marionette protocol."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

START_SECONDS = 60.0
PREFERENCES = {
    "marionette.port": 0,
    "network.proxy.type": 1,
    # Nothing listens there, so that whatever is asked of the network fails.
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
}


class Firefox:
    """A window of a Firefox: opens addresses and runs scripts."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._buffer = b""
        self._number = 0
        self._read()
        self.send(
            "WebDriver:NewSession",
            {"capabilities": {"alwaysMatch": {"acceptInsecureCerts": False}}},
        )

    def _read(self) -> Any:
        while b":" not in self._buffer:
            self._buffer += self._socket.recv(65536)
        length, _, rest = self._buffer.partition(b":")
        while len(rest) < int(length):
            rest += self._socket.recv(65536)
        self._buffer = rest[int(length) :]
        return json.loads(rest[: int(length)])

    def send(self, command: str, parameters: dict[str, Any]) -> Any:
        """Send a command and return its answer; an error is raised."""
        self._number += 1
        text = json.dumps([0, self._number, command, parameters]).encode()
        self._socket.sendall(str(len(text)).encode() + b":" + text)
        _, _, error, found = self._read()
        if error is not None:
            raise RuntimeError(f"{command}: {error['message']}")
        return found

    def get(self, address: str) -> None:
        """Open an address."""
        self.send("WebDriver:Navigate", {"url": address})

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return what it returns."""
        return self.send("WebDriver:ExecuteScript", {"script": script, "args": list(arguments)})[
            "value"
        ]

    def run_async(self, script: str, *arguments: Any) -> Any:
        """Run a script whose last argument is to be called with what is returned."""
        return self.send(
            "WebDriver:ExecuteAsyncScript", {"script": script, "args": list(arguments)}
        )["value"]

    def complaints(self, begins: str = "file:") -> list[str]:
        """Return the errors and warnings of scripts and styles of pages whose addresses begin so."""
        self.send("Marionette:SetContext", {"value": "chrome"})
        script = (
            "return Services.console.getMessageArray().filter((one) => one instanceof"
            " Ci.nsIScriptError && one.sourceName.startsWith(arguments[0])).map((one) =>"
            " one.message)"
        )
        found: list[str] = self.run(script, begins)
        self.send("Marionette:SetContext", {"value": "content"})
        return found

    def resize(self, width: int, height: int) -> None:
        """Give the window a size."""
        self.send("WebDriver:SetWindowRect", {"width": width, "height": height})

    def close(self) -> None:
        """End the session."""
        self._socket.close()


def program() -> str | None:
    """Return where Firefox is; None where there is none."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


@contextmanager
def firefox() -> Iterator[Firefox]:
    """Start a Firefox with a profile of its own."""
    found = program()
    assert found is not None, "there is no firefox"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});"
            for name, value in PREFERENCES.items()
        ]
        (Path(profile) / "user.js").write_text("\n".join(lines))
        # Messages of the console are read from the browser itself, which has to be allowed.
        flags = ("--headless", "--no-remote", "--marionette", "--remote-allow-system-access")
        command = [found, *flags, "--profile", profile]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            window = Firefox(_port(Path(profile), process))
            yield window
            window.close()
        finally:
            process.terminate()
            process.wait(timeout=30)


def _port(profile: Path, process: subprocess.Popen[bytes]) -> int:
    """Wait until Firefox has written where it listens."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        assert process.poll() is None, "firefox ended at once"
        file = profile / "MarionetteActivePort"
        if file.exists() and file.read_text().strip():
            return int(file.read_text())
        time.sleep(0.1)
    raise TimeoutError("firefox did not say where it listens")
