"""The guard decides by path, origin and body alone, and lets those wait who hand in."""

import asyncio
import itertools
import json
import socket
from urllib.parse import urlsplit

import pytest

from grader.pages.connections import READ_BYTES
from grader.pages.guard import AT_ONCE, HOST, LARGE_AT_ONCE, Guard
from grader.pages.plain import Refusal
from grader.pages.request_limits import EACH_AT_ONCE, RequestLimiter, Who
from grader.pages.requests import Event, Text, check_event, parse, remade
from grader.pages.routes import SENT, Routes
from tests.pages.conftest import wait_for

NEEDED = [
    "/",
    "/exercise",
    "/teach/",
    "/config",
    "/gradio_api/run/submit",
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
    "/teach/gradio_api/run/open",
    "/teach/config",
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


BULKY = ["[]", "{}", "1", "1e9", '""', '"a"', "[[[[[[[]]]]]]]", '{"a":1}', "null"]


@pytest.mark.parametrize("piece", BULKY)
@pytest.mark.parametrize("coding", ["utf-8", "utf-16"])
def test_a_body_of_many_pieces_is_not_read(piece, coding):
    """Half a megabyte of empty lists takes 200 ms of everybody's time; in UTF-16 a character may look like a quote."""
    body = f'{{"data": ["\u2201", {", ".join([piece] * (400_000 // len(piece)))}]}}'

    with pytest.raises(Refusal, match="more than an event" if coding == "utf-8" else "not valid"):
        parse(body.encode(coding))


@pytest.mark.parametrize("text", ['"', "\\", '\\"', "\n", "[]{},:1", "\u2201"])
def test_what_is_in_a_string_counts_for_nothing(text):
    """An answer holds whatever Python holds."""
    sent = {"data": [text * 100_000], "session_hash": "abc"}

    assert parse(json.dumps(sent, ensure_ascii=False).encode()) == sent


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
    """Only the number and the texts go on; half of a surrogate pair becomes one character."""
    strange = {"trigger_id": -1, "oauth_token": {}, "simple_format": 1e999, "event_id": "\ud800", "x": [[[]]]}
    sent = {"data": [None, "a\ud800b"], "event_data": {"id": "0a", "path": "/etc/passwd", "meta": {}}, **strange}

    found = json.loads(remade(EVENTS["submit"], sent))

    assert found == {"fn_index": 3, "data": ["", "a\ufffdb"]}


def test_whoever_hands_in_waits_for_a_turn_and_whoever_reads_does_not():
    """Of a class that hands in at once few are let in at a time; a page opened meanwhile stands behind nobody."""
    entered: list[str] = []
    events, people = {"submit": Event(3, may_wait=True), "board": Event(4)}, itertools.count(1)

    async def story() -> tuple[list[str], list[str]]:
        served = asyncio.Event()

        async def app(scope, receive, send) -> None:
            entered.append(scope["path"].rpartition("/")[2])
            if scope["path"].endswith("submit"):
                await served.wait()

        async def recognise(scope) -> Who:
            return Who(next(people), "192.0.2.1")

        guard = Guard(app, body_limit=1000, events=events, crowd=RequestLimiter(), recognise=recognise)
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


ROUTES = {**Routes()._table, "/runs/0123456789abcdef01234567": Routes().find("/runs/01"), "/gradio_api/run/board": SENT}
PIECE = 1 << 19  # bytes


class Cycle:
    """What the server calls a request that is being answered."""

    disconnected = False

    async def receive(self):
        return {"type": "http.request", "body": b"", "more_body": False}


class Door:
    """A guard with an application behind it in which every request stays until `served` is set."""

    def __init__(self):
        self.entered, self.served, self.crowd = [], asyncio.Event(), RequestLimiter()
        events = {"board": Event(4)}
        self.guard = Guard(self.app, body_limit=2 * PIECE, events=events, crowd=self.crowd, recognise=self.recognise)

    async def app(self, scope, receive, send):
        self.entered.append(scope["client"][0])
        await self.served.wait()

    async def recognise(self, scope):
        return Who(None, scope["client"][0])

    async def ask(self, path, address, body=b"", pieces=(), cycle=None):
        """Send a request, and return the status of a refusal; a body of `pieces` comes one by one and never ends."""
        route, seen, left = Routes().find(path), [], list(pieces)
        kind = route.body.value.encode()
        headers = [(b"host", b"gym.example"), (b"content-type", kind)]
        head = {"type": "http", "method": "POST" if body or pieces else route.methods[0], "path": path}

        async def receive():
            if pieces and not left:
                await self.served.wait()
            return {"type": "http.request", "body": left.pop() if left else body, "more_body": bool(pieces)}

        async def send(message):
            seen.append(message.get("status"))

        scope = {**head, "query_string": b"", "headers": headers, "client": (address, 1)}
        await self.guard(scope, cycle.receive if cycle else receive, send)
        return next((status for status in seen if status), 0)


async def started(*asked):
    """Begin requests, and let them come as far as they can."""
    tasks = [asyncio.create_task(one) for one in asked]
    for _ in range(300):
        await asyncio.sleep(0)
    return tasks


@pytest.mark.parametrize("path", [path for path, route in ROUTES.items() if not route.waits and "GET" in route.methods])
def test_nothing_is_done_for_who_has_hung_up_before_it_is_their_turn(path):
    """Whoever sent requests and hung up at once had each of them worked on, with few connections open at a time."""

    async def story():
        door = Door()
        before = await started(*(door.ask(path, "192.0.2.1") for _ in range(EACH_AT_ONCE)))
        gone = [Cycle() for _ in range(5)]
        waiting = await started(*(door.ask(path, "192.0.2.1", cycle=one) for one in gone))
        for one in gone:
            one.disconnected = True
        late = await started(door.ask(path, "192.0.2.3", cycle=gone[0]))
        door.served.set()
        await asyncio.gather(*before, *waiting, *late)
        return door.entered

    assert asyncio.run(story()) == ["192.0.2.1"] * EACH_AT_ONCE


@pytest.mark.parametrize("path", [path for path, route in ROUTES.items() if not route.waits and "GET" in route.methods])
def test_the_requests_of_one_address_take_turns_whatever_they_ask_for(path):
    """Files too: two thousand connections that ask for one again and again kept everybody else waiting."""

    async def story():
        door = Door()
        many = await started(*(door.ask(path, "192.0.2.1") for _ in range(EACH_AT_ONCE + 5)))
        other = await started(door.ask(path, "192.0.2.2"))
        entered = list(door.entered)
        door.served.set()
        await asyncio.gather(*many, *other)
        return entered, door.crowd

    entered, crowd = asyncio.run(story())

    assert entered == ["192.0.2.1"] * EACH_AT_ONCE + ["192.0.2.2"]
    assert (crowd._places, dict(crowd.inside._taken)) == ({}, {})


def test_a_body_is_read_for_its_meaning_when_it_is_its_turn():
    """To parse half a megabyte of JSON takes 35 ms of everybody's time; five hundred of them came at once."""

    async def story():
        door = Door()
        good = json.dumps({"data": [], "session_hash": "abc"}).encode()
        stuck = await started(*(door.ask("/gradio_api/run/board", "192.0.2.1", good) for _ in range(EACH_AT_ONCE)))
        broken = await started(*(door.ask("/gradio_api/run/board", f"192.0.2.{n}", b"{") for n in (1, 2)))
        before = [one.done() for one in broken]
        door.served.set()
        return before, await asyncio.gather(*broken, *stuck)

    assert asyncio.run(story()) == ([False, True], [400, 400, *[0] * EACH_AT_ONCE])


LONG = "&".join(f"a{n}=1" for n in range(60))
COSTLY = {
    "nothing is there": ("/nothing", {}, 404),
    "another method": ("/account", {"method": "PUT"}, 405),
    "a long query": ("/exercise", {"query_string": LONG.encode()}, 414),
    "a body for a reader": ("/exercise", {"headers": [(b"content-length", b"9")]}, 400),
    "another site": ("/account", {"method": "POST", "headers": [(b"origin", b"https://evil.example")]}, 403),
    "a page": ("/", {}, 0),
    "a file": ("/gym/gym.js", {}, 0),
}


@pytest.mark.parametrize(("path", "given", "status"), COSTLY.values(), ids=COSTLY)
def test_however_many_come_at_once_few_are_between_two_steps_of_anothers(path, given, status):
    """A hundred and fifty requests, refused or not, had their turn in one step of the loop; everybody else waited."""

    async def story():
        statuses, order = [], []
        door = Door()
        door.served.set()

        async def ask(address):
            async def receive():
                return {"type": "http.request", "body": b"", "more_body": False}

            async def send(message):
                statuses.append(message.get("status"))

            scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [], **given}
            await door.guard({**scope, "client": (address, 1)}, receive, send)
            order.append(address)

        many = [asyncio.create_task(ask("192.0.2.1")) for _ in range(150)]
        await asyncio.gather(*many, asyncio.create_task(ask("192.0.2.2")))
        return order.index("192.0.2.2"), next((one for one in statuses if one), 0)

    before, refused = asyncio.run(story())

    assert refused == status
    assert before <= 4 * EACH_AT_ONCE


@pytest.mark.parametrize("path", ["/draft", "/try", "/gradio_api/run/board"])
def test_large_bodies_that_never_end_fill_no_memory(path):
    """Three of an address are under way at once, and so many of everybody; the others stay with whoever sends them."""

    async def story(addresses):
        door, reading = Door(), []

        async def ask(address):
            async def receive():
                reading.append(address)
                return await asyncio.Event().wait()

            headers = [(b"content-length", str(PIECE).encode())]
            scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
            await door.guard({**scope, "client": (address, 1)}, receive, None)

        sent = await started(*(ask(address) for address in addresses))
        for one in sent:
            one.cancel()
        await asyncio.gather(*sent, return_exceptions=True)
        return len(reading), door.crowd._places

    assert asyncio.run(story(["192.0.2.1"] * 20)) == (EACH_AT_ONCE, {})
    assert asyncio.run(story([f"192.0.2.{n // 2}" for n in range(LARGE_AT_ONCE + 99)])) == (LARGE_AT_ONCE, {})


def test_what_is_left_of_refused_bodies_is_read_in_turns():
    """Of one address, so that its sender gets to read why, at no cost to others."""

    async def story():
        door, reading, most = Door(), 0, 0

        async def receive():
            nonlocal reading, most
            reading, most = reading + 1, max(most, reading + 1)
            await asyncio.sleep(0.01)
            reading -= 1
            return {"type": "http.request", "body": bytes(PIECE), "more_body": False}

        async def send(message):
            pass

        headers = [(b"content-length", str(PIECE).encode())]
        scope = {"type": "http", "method": "POST", "path": "/nothing", "query_string": b"", "headers": headers}
        await asyncio.gather(*(door.guard({**scope, "client": ("192.0.2.1", 1)}, receive, send) for _ in range(20)))
        return most, door.crowd._places

    assert asyncio.run(story()) == (EACH_AT_ONCE, {})


@pytest.mark.parametrize("path", ["/exercise", "/try", "/runs/01", "/gradio_api/run/board"])
def test_those_of_one_address_are_recognised_in_turns(path):
    """An unknown cookie is looked up in the store before anybody is counted: two thousand took all threads at once."""

    async def story():
        door, looking, most = Door(), 0, 0

        async def recognise(scope):
            nonlocal looking, most
            looking, most = looking + 1, max(most, looking + 1)
            await asyncio.sleep(0.001)
            looking -= 1
            return Who(None, scope["client"][0])

        door.guard._recognise = recognise
        door.served.set()
        await asyncio.gather(*(door.ask(path, "192.0.2.1") for _ in range(20)))
        return most, door.crowd._places

    assert asyncio.run(story()) == (EACH_AT_ONCE, {})


def test_a_connection_is_read_in_small_pieces(site):
    """Nobody has asked for what was read, and each of thousands of connections may hold as much."""
    with socket.create_connection((urlsplit(site.url).hostname, urlsplit(site.url).port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        wait_for(lambda: site.server.server_state.connections)
        sizes = {one.transport.max_size for one in site.server.server_state.connections}

    assert sizes == {READ_BYTES}


def test_a_long_body_counts_as_many_requests():
    """What somebody sends takes time of the loop by its length; a few large bodies are as many small ones."""

    async def story():
        door = Door()
        door.served.set()
        body = json.dumps({"data": [], "session_hash": "abc", "x": "a" * (PIECE - 100)}).encode()
        found = [await door.ask("/gradio_api/run/board", "192.0.2.1", body) for _ in range(400)]
        return found, await door.ask("/gradio_api/run/board", "192.0.2.2", body)

    found, other = asyncio.run(story())

    assert found == sorted(found)
    assert 100 < found.count(0) < 300  # there is room again for some meanwhile, the more the slower this machine is
    assert (set(found), other) == ({0, 429}, 0)
