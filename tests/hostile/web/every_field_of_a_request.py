"""Fill the log, and break what reads a request: strange values in each field, at each route, by each method.

On an event, a cookie called `get` was a 500 with 2 kB of trace, half of a surrogate pair one with 8 kB.

Expected: never a 5xx, never a trace, never more than 200 bytes of log for a request
Stopped by: guard (a request is made anew from known fields), closed list of routes
Own: yes
"""

import contextlib
import io
import itertools
import json
import logging
import re

import gradio as gr
from gradio.route_utils import Obj

from grader.pages.routes import FILE, Routes
from grader.store.records import Role

EVENT = "/gradio_api/run/open"
NAMES = ["page", "deep_link", "all_endpoints", "ex", "student", "submission", "flag", "next", "v", "session_hash", "fn_index",
         "__theme", "view", "__class__", "get", "self", "request", "user", "body"]  # fmt: skip
VALUES = [b"%00", b"%ed%a0%80", b"%ff", b"%", b"%u0041", b"a" * 3000, b"NaN", b"-1", b"1e400", b"9" * 400, b"%5b%5d", b"%7b%7d",
          b"__class__", b"%0d%0aX:%201", b"..%2f..%2fetc", b"%e2%80%ae", b"%d9%a3", b"${1}", b"null", b""]  # fmt: skip
SHAPES = ['"\\ud800"', '{"a": "\\ud800"}', '["\\udfff\\u0000"]', "1e400", "NaN", "-1", "9" * 5000, "[]", '""', "null", "true",
          "[" * 900 + "]" * 900, '{"__class__": 1, "get": 1}', '"' + "a" * 20_000 + '"']  # fmt: skip
FIELDS = ["data", "session_hash", "fn_index", "event_data", "trigger_id", "event_id", "oauth_token", "simple_format", "batched",
          "request", "batch_trigger_ids", "__class__"]  # fmt: skip
METHODS = [b"HEAD", b"POST", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"TRACE", b"CONNECT", b"get", b"X" * 100]
SPELLINGS = ["/", "//", "%00", ";a=1", "/..", "%2f", "%252e", "%ed%a0%80"]
HEADERS = [b"Accept: \xff", b"Cookie: \xff=\xff", b"Cookie: attention_gym=" + b"\xff" * 40, b"Cookie: attention_gym=" + b"a" * 9000,
           b"Cookie: =; ;=;;", b"Range: bytes=9-1", b"If-None-Match: \xff", b"If-Modified-Since: 99999999999999999999999999",
           b"Accept-Language: " + b"a," * 900, b"Content-Type: application/json; charset=utf-7", b"Content-Length: 0",
           b"Expect: 100-continue", b"Upgrade: websocket\r\nConnection: Upgrade", b"Upgrade: h2c\r\nConnection: Upgrade",
           b"X-Forwarded-For: \xff", b"X-Forwarded-For: " + b"1," * 900, b"X-Forwarded-Proto: x", b"Authorization: \xff",
           b"X-Gradio-User: \xff", b"Referer: \xff", b"Origin: \xff", b"Sec-Fetch-Site: \xff", b"Last-Event-ID: \xff",
           b"Transfer-Encoding: gzip", b"\xff: a", b"Host: b"]  # fmt: skip
ATTRIBUTES = sorted({*dir(Obj), *dir(dict), *dir(gr.Request), *vars(gr.Request({})).keys()})


def control(world):
    async def ask(client):
        sent = {"data": [], "session_hash": "s"}
        broken = [(await client.post(EVENT, json=sent, headers={"Cookie": f"{name}=1"})).status_code for name in ("get", "__class__")]
        return [*broken, (await client.get("/?page=none")).status_code]

    assert world.bare(ask) == [500, 500, 500]


def requests():
    """Each hostile request, as its first line, further headers and a body."""
    dynamic = [path for path, route in Routes()._table.items() if route is not FILE]
    dynamic += [EVENT, "/gradio_api/run/predict", "/runs/00", "/gym/gym.js"]
    values = itertools.cycle(VALUES)
    for path, name in itertools.product(dynamic, NAMES):
        yield from at(path, b"?" + name.encode() + b"=" + next(values))
    for path in dynamic:
        yield from at(path, b"?" + b"&".join(name.encode() + b"=" + next(values) for name in NAMES * 2))
        yield from ((method + b" " + path.encode(), [], b"") for method in METHODS)
        yield from ((b"GET " + (path + more).encode(), [], b"") for more in SPELLINGS)
        cookies = b"; ".join(f"{name}=1".encode() for name in ATTRIBUTES)
        yield from at(path, headers=[b"Cookie: " + cookies])
    for header, path in itertools.product(HEADERS, (EVENT, "/", "/sign-in")):
        yield from at(path, headers=[header])
    for name in ATTRIBUTES:
        yield from at(EVENT, headers=[f"Cookie: {name}=1".encode()])
    for field, shape in itertools.product(FIELDS, SHAPES):
        body = f'{{"data": [], "session_hash": "s", "fn_index": null, "{field}": {shape}}}'
        yield from at(EVENT, body=body.encode())
    for name, value in itertools.product(("name", "password", "next", "class_code", "__class__"), VALUES):
        for path in ("/sign-in", "/register"):  # never whole, so nobody's password is looked at
            form = name.encode() + b"=" + value
            yield b"POST " + path.encode(), [b"Content-Type: application/x-www-form-urlencoded"], form


def at(path, query=b"", headers=(), body=None):
    """One request to a path by the method that it takes."""
    if "/run/" not in path:
        yield b"GET " + path.encode() + query, [*headers], b""
        return
    body = body or json.dumps({"data": [], "session_hash": "s"}).encode()
    yield b"POST " + path.encode() + query, [b"Content-Type: application/json", *headers], body


def attack(world):
    people = [None, world.person("Field Student"), None, world.person("Field Teacher", Role.INSTRUCTOR)]
    lines, printed = io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(lines)
    logging.getLogger().addHandler(handler)
    try:
        with contextlib.redirect_stderr(printed):
            for (line, headers, body), who in zip(requests(), itertools.cycle(people), strict=False):
                before = len(lines.getvalue()) + len(printed.getvalue())
                status = ask(world, line, headers, body, who)
                grown = len(lines.getvalue()) + len(printed.getvalue()) - before
                assert 200 <= status < 500, (line[:200], headers, body[:200], status)
                assert status != 429, line
                assert grown <= 200, (line[:200], headers, body[:200], printed.getvalue()[-500:])
    finally:
        logging.getLogger().removeHandler(handler)
    assert "Traceback" not in lines.getvalue() + printed.getvalue()


def ask(world, line, headers, body, who):
    own = [b"Host: gym.example", b"Connection: close", *headers]
    if who and not any(header.startswith(b"Cookie") for header in headers):
        own.append(b"Cookie: attention_gym=" + who.token.encode())
    if body:
        own.append(f"Content-Length: {len(body)}".encode())
    answer = world.raw(line + b" HTTP/1.1\r\n" + b"\r\n".join(own) + b"\r\n\r\n" + body, wait=10)
    found = re.match(rb"(?:HTTP/1.1 100 [^\r]*\r\n\r\n)?HTTP/1.1 (\d{3})", answer)
    return int(found[1]) if found else 400  # what the server cannot read as HTTP it may just close
