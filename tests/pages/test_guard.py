"""The guard decides by path, origin and body alone, and lets those wait who hand in."""

import asyncio
import json
import socket
from urllib.parse import urlsplit

import pytest

from grader.pages.envelope import Event, Text, check_event, parse, remade
from grader.pages.guard import AT_ONCE, HOST, Guard
from grader.pages.refusal import Refusal
from grader.pages.request_limits import RequestLimiter, Who
from grader.pages.routes import Routes

NEEDED = [
    "/",
    "/exercise",
    "/teach/",
    "/teach/config",
    "/gradio_api/run/submit",
    "/teach/gradio_api/run/open",
    "/runs/0123456789abcdef01234567",
    "/gym/gym.js",
]
NOT_NEEDED = [
    "/gradio_api/upload",
    "/gradio_api/file=/etc/passwd",
    "/gradio_api/proxy=http://example.org",
    "/gradio_api/component_server",
    "/gradio_api/deep_link",
    "/gradio_api/runs",
    "/gradio_api/stream/x",
    "/gradio_api/custom_component/x",
    "/gradio_api/process_recording",
    "/gradio_api/vibe-edit",
    "/gradio_api/openapi.json",
    "/monitoring",
    "/monitoring/summary",
    "/login",
    "/docs",
    "/file=/etc/passwd",
    "/gym/../app.py",
    "/teach/monitoring",
    "//gradio_api/upload",
    "/teach/gradio_api/upload",
    "/gradio_api/run/../upload",
    "/gradio_api/call/submit",
    "/gradio_api/queue/join",
    "/gradio_api/queue/data",
    "/gradio_api/heartbeat/abc",
    "/gradio_api/cancel",
    "/gradio_api/reset",
    "/runs/",
    "/runs/x",
    "/runs/01/02",
    "/teach/runs/01",
    "/gym/" + "a" * 300,
    "/gym/\0",
]


@pytest.mark.parametrize("path", NEEDED)
def test_paths_of_our_pages_are_known(path):
    """What the pages use is let through."""
    assert Routes().find(path)


@pytest.mark.parametrize("path", NOT_NEEDED)
def test_other_paths_are_unknown(path):
    """Each door of Gradio that no page of ours uses is shut."""
    assert Routes().find(path) is None


BROKEN = [b"[" * 200_000, b"{", b"\xff\xfe", b"[]", b'{"data": [NaN]}', b'{"fn_index": ' + b"9" * 5000 + b"}", b""]


@pytest.mark.parametrize("body", BROKEN)
def test_bodies_too_deep_or_broken_are_refused(body):
    """What is no JSON, or nests without end, goes no further."""
    with pytest.raises(Refusal):
        parse(body)


EVENTS = {
    "open": Event(0),
    "submit": Event(3, (Text(), Text(longest=None))),
    "choose": Event(4, (Text(choices=("cpu",)),)),
}


@pytest.mark.parametrize("number", [{}, {"fn_index": 3}, {"fn_index": None}])
def test_an_ordinary_event_passes(number):
    """Code and an exercise's name are let through, with and without the number that a browser sends along."""
    event = {"data": ["causal_attention", "import torch"], "session_hash": "abc", **number}

    check_event(EVENTS, "submit", parse(json.dumps(event).encode()))


def test_a_browser_sends_events_by_number_alone():
    """The number says how many inputs there must be."""
    event = {"data": ["causal_attention", "import torch"], "fn_index": 3, "session_hash": "abc"}

    check_event(EVENTS, "predict", event)
    with pytest.raises(Refusal, match="list of 2 inputs"):
        check_event(EVENTS, "predict", {**event, "data": []})


STRANGE = [
    ("open", {"data": [], "fn_index": 1, "session_hash": "a"}, 404),
    ("open", {"data": [], "fn_index": 3, "session_hash": "a"}, 404),
    ("open", {"data": [], "fn_index": -1, "session_hash": "a"}, 404),
    ("open", {"data": [], "fn_index": False, "session_hash": "a"}, 404),
    ("open", {"data": [], "fn_index": "0", "session_hash": "a"}, 404),
    ("open", {"data": [], "fn_index": 10**4000, "session_hash": "a"}, 404),
    ("open", {"data": [], "fn_index": 0}, 400),
    ("open", {"data": [], "fn_index": 0, "session_hash": ["a"]}, 400),
    ("open", {"data": [], "fn_index": 0, "session_hash": "\ud800"}, 400),
    ("open", {"data": [], "fn_index": 0, "session_hash": "a" * 65}, 400),
    ("submit", {"data": ["x"], "fn_index": 3, "session_hash": "a"}, 400),
    ("submit", {"data": {"0": 1}, "fn_index": 3, "session_hash": "a"}, 400),
    ("open", {"data": [], "fn_index": 0, "session_hash": "a", "batched": True}, 400),
    ("predict", {"data": [], "session_hash": "a"}, 404),
    ("predict", {"data": [], "fn_index": 1, "session_hash": "a"}, 404),
    ("predict", {"data": [], "fn_index": False, "session_hash": "a"}, 404),
    ("nothing", {"data": [], "session_hash": "a"}, 404),
    ("open", {"data": "abc", "session_hash": "a"}, 400),
    ("info", {"data": [], "session_hash": "a"}, 404),
]


@pytest.mark.parametrize(("route", "body", "status"), STRANGE)
def test_events_that_are_none_are_refused(route, body, status):
    """An unknown event, and one that is not sent as it is taken, never reaches Gradio."""
    with pytest.raises(Refusal) as refused:
        check_event(EVENTS, route, body)

    assert refused.value.status == status


BAD_INPUTS = [
    ("submit", [{"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}, ""]),
    ("submit", ["", ["x"]]),
    ("submit", [1, ""]),
    ("submit", ["a" * 101, ""]),
    ("choose", ["a toaster"]),
    ("choose", [None]),
]


@pytest.mark.parametrize(("name", "data"), BAD_INPUTS)
def test_inputs_of_another_form_are_refused(name, data):
    """An input is a text of known length, or one of a few; anything else makes Gradio fail, or read a file of ours."""
    with pytest.raises(Refusal) as refused:
        remade(EVENTS[name], {"data": data})

    assert refused.value.status == 400


def test_gradio_is_given_a_body_made_anew():
    """Only the number, the texts and the id of a clicked line go on; half of a surrogate pair becomes one character."""
    strange = {"trigger_id": -1, "oauth_token": {}, "simple_format": 1e999, "event_id": "\ud800", "x": [[[]]]}
    sent = {"data": [None, "a\ud800b"], "event_data": {"id": "0a", "path": "/etc/passwd", "meta": {}}, **strange}

    found = json.loads(remade(EVENTS["submit"], sent))

    assert found == {"fn_index": 3, "data": ["", "a\ufffdb"], "event_data": {"id": "0a"}, "session_hash": "page"}
    assert json.loads(remade(EVENTS["submit"], {**sent, "event_data": {"id": "../x"}}))["event_data"] is None


def test_whoever_hands_in_waits_for_a_turn_and_whoever_reads_does_not():
    """Of a class that hands in at once few are let in at a time; a page opened meanwhile stands behind nobody."""
    entered: list[str] = []
    events = {"submit": Event(3, patient=True), "board": Event(4)}

    async def story() -> tuple[list[str], list[str]]:
        served = asyncio.Event()

        async def app(scope, receive, send) -> None:
            entered.append(scope["path"].rpartition("/")[2])
            if scope["path"].endswith("submit"):
                await served.wait()

        async def recognise(scope) -> Who:
            return Who(1, "192.0.2.1")

        guard = Guard(app, body_limit=1000, events={"": events}, crowd=RequestLimiter(), recognise=recognise)
        sent = [asyncio.create_task(guard(*request_for(name))) for name in ["submit"] * (AT_ONCE + 3) + ["board"]]
        await asyncio.wait_for(sent[-1], 20)
        before = list(entered)
        served.set()
        await asyncio.wait_for(asyncio.gather(*sent), 20)
        return before, entered

    before, after = asyncio.run(story())

    assert before == ["submit"] * AT_ONCE + ["board"]
    assert sorted(after) == sorted(["submit"] * (AT_ONCE + 3) + ["board"])


def request_for(name):
    """Return what a server hands over of an event without inputs."""
    headers = [(b"host", b"gym.example"), (b"content-type", b"application/json")]
    body = json.dumps({"data": [], "session_hash": "abc"}).encode()

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message) -> None:
        raise AssertionError(f"an answer of the guard's own: {message}")

    path = f"/gradio_api/run/{name}"
    return {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}, receive, send


@pytest.mark.parametrize(("host", "fine"), [
    ("gym.example", True), ("127.0.0.1:7860", True), ("[::1]:7860", True),
    ("a b", False), ('"><script>', False), ("evil.example/x", False), ("user@evil.example", False), ("", False),
])  # fmt: skip
def test_a_host_is_a_name(host, fine):
    """What no browser sends as a host is turned away before anything is built from it."""
    assert bool(HOST.fullmatch(host)) is fine


REFUSED = {
    "another site's": ("POST /account", "Origin: https://evil.example", 403),
    "nothing is there": ("POST /nothing", "", 404),
    "another method": ("PUT /account", "", 405),
    "a reader with a body": ("GET /", "", 400),
    "no form": ("POST /account", "Content-Type: text/plain", 413),
    "too long": ("POST /gradio_api/run/submit", "Content-Type: application/json", 413),
}


@pytest.mark.parametrize(("line", "header", "status"), REFUSED.values(), ids=REFUSED)
def test_whoever_is_refused_can_read_why(site, line, header, status):
    """The whole answer arrives, and the connection ends without a reset, however much of the body was still to come."""
    body = b"a" * 1_000_000
    head = f"{line} HTTP/1.1\r\nHost: {urlsplit(site.url).netloc}\r\nContent-Length: {len(body)}\r\n{header}"

    with socket.create_connection((urlsplit(site.url).hostname, urlsplit(site.url).port), timeout=20) as connection:
        connection.sendall(head.rstrip().encode() + b"\r\n\r\n" + body)
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece

    said, _, text = answer.partition(b"\r\n\r\n")
    assert said.startswith(f"HTTP/1.1 {status} ".encode()), said
    assert text.rstrip().endswith(b"."), text


def test_a_refusal_does_not_wait_for_a_body_that_never_comes(site):
    """Whoever announces a body and sends none is answered all the same."""
    with socket.create_connection((urlsplit(site.url).hostname, urlsplit(site.url).port), timeout=20) as connection:
        connection.sendall(b"POST /nothing HTTP/1.1\r\nHost: gym.example\r\nContent-Length: 9\r\n\r\n")

        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 404 ")
