"""The door of the live view: nonsense is refused, half a request is closed, and strangers need a token."""

from __future__ import annotations

import re
import socket
import sys
import threading
import urllib.parse
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from paragone.reporting.live import create_app, serve
from paragone.reporting.live.app import cookie_name, new_token
from paragone.reporting.live.pages import Keeper

sys.path.insert(0, str(Path(__file__).parents[1]))
from synthetic_stores import write_store

HERE = "http://127.0.0.1:8765"
PATHS = ("/", "/report", "/progress", "/folds", "/cell", "/static/page.js", "/static/none", "/none")
NONSENSE = [
    "²",
    "٣",
    "-1",
    "1.0",
    "1e3",
    "",
    " 1",
    "0x1",
    "9" * 20,
    "9" * 5000,
    "1\x00",
    "NaN",
    "1_000",
    "＋1",
]


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return write_store(tmp_path_factory.mktemp("door") / "lab.sqlite", ["A", "B"], ["x", "y"])


def client_of(store: Path, token: str | None = None) -> TestClient:
    return TestClient(
        create_app(store, Keeper(store), token), base_url=HERE, follow_redirects=False
    )


@pytest.mark.parametrize("nonsense", NONSENSE, ids=lambda text: ascii(text)[:12])
@pytest.mark.parametrize("name", ["fold", "repeat"])
def test_a_number_that_is_none_is_answered_with_400_and_a_short_sentence(store, name, nonsense):
    place = {"dataset": "x", "method": "A", "fold": "0", "repeat": "0", name: nonsense}
    for path in ("/cell", "/folds"):
        answer = client_of(store).get(path, params=place)
        assert answer.status_code == 400
        assert "is not the number of a fold" in answer.json()["error"]
        assert len(answer.text) < 200


def test_without_the_token_nothing_is_answered(store):
    token = new_token()
    client = client_of(store, token)
    for path in PATHS:
        wrong = {
            f"?token={other}" for other in ("", "x", token[:-1], token + "x", token.swapcase(), "²")
        }
        for query in ("", *wrong):
            answer = client.get(path + query)
            assert answer.status_code == 403, (path, query)
            assert "asks for its token" in answer.text.lower()
            assert "set-cookie" not in answer.headers
            assert answer.headers["content-security-policy"].startswith("default-src 'none'")
            assert "lab" not in answer.text
    assert client.get("/", cookies={cookie_name(token): "x"}).status_code == 403


def test_the_token_is_traded_once_for_a_cookie_and_leaves_the_address(store):
    token = new_token()
    client = client_of(store, token)
    first = client.get(f"/?metric=micro_f1&token={token}&at=k%3D2")
    assert first.status_code == 303
    assert first.headers["location"] == "/?metric=micro_f1&at=k%3D2"
    cookie = first.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert client.get("/").status_code == 200
    assert client.get("/progress").json()["total"] == 20
    # Another view on another port of the machine has a cookie of another name.
    other = new_token()
    assert client_of(store, other).get("/", cookies=dict(client.cookies)).status_code == 403
    assert cookie_name(token) != cookie_name(other)


@pytest.mark.parametrize("path", ["//evil.example/", "///evil.example", "/\\evil.example", "//"])
def test_the_token_never_leads_to_another_server(store, path):
    token = new_token()
    answer = client_of(store, token).get(f"{HERE}{path}?token={token}")
    assert urllib.parse.urlsplit(answer.headers.get("location", "/")).netloc == ""
    assert not answer.headers.get("location", "/").startswith(("//", "/\\"))


def test_a_foreign_host_is_refused_before_the_token_is_looked_at(store):
    token = new_token()
    answer = client_of(store, token).get(f"/?token={token}", headers={"host": "evil.example"})
    assert answer.status_code == 400
    assert "set-cookie" not in answer.headers


@contextmanager
def served(store: Path, **options):
    """Serve a store in a thread of this process, as `paragone view` does; give the address that it prints."""
    import uvicorn

    told, addresses, servers = threading.Event(), [], []
    begin = uvicorn.Server.__init__

    def remember(server, config):
        servers.append(server)
        begin(server, config)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.Server, "__init__", remember)
        patch.setattr(uvicorn.Server, "capture_signals", lambda server: _nothing())
        thread = threading.Thread(
            target=lambda: serve(
                store, 0, told=lambda address: (addresses.append(address), told.set()), **options
            )
        )
        thread.start()
        assert told.wait(60)
        try:
            yield addresses[0]
        finally:
            while not servers:
                pass
            servers[0].should_exit = True
            thread.join(60)


@contextmanager
def _nothing():
    yield


def answered(connection: socket.socket) -> bytes:
    """Return what comes until the other side closes the connection; one that stays open ends in a timeout."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def closed_while_sending(connection: socket.socket) -> bool:
    """Send a byte now and then until the other side closes; one that listens for ever ends in False."""
    connection.settimeout(0.05)
    for _ in range(600):
        try:
            connection.sendall(b"G")
            if connection.recv(1) == b"":
                return True
        except TimeoutError:
            continue
        except ConnectionError:
            return True
    return False


def test_half_a_request_is_closed(store, monkeypatch):
    monkeypatch.setattr("paragone.reporting.live.connections.REQUEST_SECONDS", 0.3)
    with served(store) as address:
        port = urllib.parse.urlsplit(address).port
        whole = f"GET /progress HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        halves = {b"": b"", b"GET / HT": b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ": b""}
        # Half a second request too, after a first one that was answered (with a refusal, for want
        # of the token).
        for half, answer in {**halves, whole + b"GET /prog": b"HTTP/1.1 403"}.items():
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                connection.sendall(half)
                assert answered(connection)[: len(b"HTTP/1.1 403")] == answer
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            assert closed_while_sending(connection)


def test_the_printed_address_opens_the_view_and_nothing_else_does(store):
    import httpx

    with served(store) as address:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", address)
        bare = address.partition("?")[0]
        assert httpx.get(bare).status_code == 403
        with httpx.Client(follow_redirects=True) as browser:
            opened = browser.get(address)
            assert (opened.status_code, str(opened.url)) == (200, bare)
            assert browser.get(bare + "progress").json()["ended"] == 20
    with served(store, ask_token=False) as address:
        assert "token" not in address
        assert httpx.get(address).status_code == 200
