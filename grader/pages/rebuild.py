"""A request made anew from the few fields that our pages and Gradio need, each of a known type and a bounded size.

Nothing else of what came over the wire is passed on. Gradio turns cookies into attributes (a cookie called `get` or
`__class__` broke each event), reads fields of the query and of the body that no page of ours sends, and repeats a wrong
value in its answer, where half of a surrogate pair cannot be encoded: each of these was a 500 with 8 kB of trace.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.types import Scope

from grader.pages.refusal import Refusal
from grader.pages.routes import Body, Route
from grader.service.limits import plain_address

LONGEST_QUERY, MOST_ASKED = 8192, 50  # bytes and fields
MOST_FIELDS = 20  # of a form
NOTHING = "?"  # the name of nobody and of no thing
COOKIE = re.compile(r"[A-Za-z0-9_.-]{1,200}")  # a token or a mark of ours
FRESHNESS = ("if-none-match", "if-modified-since")  # what a browser says of a file that it has already
PLAIN_VALUE = re.compile(r"[ -~]{1,200}")
# What has been checked, or comes from the server.
KEPT = ("type", "asgi", "http_version", "server", "scheme", "app", "state", "method", "path")
HALF = re.compile("[\ud800-\udfff]")


def rebuilt(scope: Scope, route: Route, cookies: Collection[str]) -> Scope:
    """Return the request without its body, of the fields that `route` takes and the cookies that are ours.

    Raises:
        Refusal: the query is too long.
    """
    headers = Headers(scope=scope)
    kept = {"host": headers.get("host", ""), "cookie": cookies_of(headers, cookies)}
    if route.bearer and PLAIN_VALUE.fullmatch(shown := headers.get("authorization", "")):
        kept["authorization"] = shown
    if route.static:
        kept |= {name: value for name in FRESHNESS if PLAIN_VALUE.fullmatch(value := headers.get(name, ""))}
    return {
        **{name: scope[name] for name in KEPT if name in scope},
        "method": "GET" if scope["method"] == "HEAD" else scope["method"],  # the server leaves the body out
        "raw_path": scope["path"].encode(),
        "root_path": "",
        "client": client_of(scope),
        "query_string": query_of(scope["query_string"], route.query),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in kept.items() if value],
    }


def with_body(scope: Scope, body: bytes, kind: Body) -> Scope:
    """Return the request with the headers of a body."""
    told = [(b"content-type", kind.value.encode()), (b"content-length", str(len(body)).encode())]
    return {**scope, "headers": [*scope["headers"], *told]}


def cookies_of(headers: Headers, names: Collection[str]) -> str:
    """Return the cookies called `names` that have the form of ours, as one header; of two, the last one."""
    found = {}
    for piece in ";".join(headers.getlist("cookie")).split(";"):
        name, _, value = piece.partition("=")
        if name.strip() in names and COOKIE.fullmatch(value.strip()):
            found[name.strip()] = value.strip()
    return "; ".join(f"{name}={value}" for name, value in found.items())


def query_of(raw: bytes, fields: Mapping[str, int]) -> bytes:
    """Return the query with no more than `fields`.

    Raises:
        Refusal: it is too long.
    """
    if _is_too_long(raw):
        raise Refusal(
            414, f"That address is too long; its query has {LONGEST_QUERY} bytes and {MOST_ASKED} fields at most."
        )
    return urlencode(asked_of(raw, fields)).encode()


def asked_of(raw: bytes, fields: Mapping[str, int]) -> dict[str, str]:
    """Return the values of `fields` in a query, none of one that is too long.

    One that is too long, cannot be printed, or has another value beside it becomes `NOTHING`: left out, it would
    lead to what is shown to whoever asks for nothing, and of two values nobody knows which was meant.
    """
    found: dict[str, str] = {}
    for name, value in [] if _is_too_long(raw) else parse_qsl(raw.decode("latin-1"), keep_blank_values=True):
        if name in fields:
            plain = len(value) <= fields[name] and value.isprintable() and found.get(name, value) == value
            found[name] = value if plain else NOTHING
    return found


def _is_too_long(raw: bytes) -> bool:
    return len(raw) > LONGEST_QUERY or raw.count(b"&") >= MOST_ASKED


def form_of(body: bytes, fields: Mapping[str, int]) -> bytes:
    """Return the form with no more than `fields`.

    Raises:
        Refusal: a field is there twice or too long, or there are too many.
    """
    try:
        given = parse_qsl(body.decode(errors="replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise Refusal(400, f"A form has {MOST_FIELDS} fields at most.") from None
    known = [(name, value) for name, value in given if name in fields]
    if len(known) > len(dict(known)):
        raise Refusal(400, "A field of a form is there once.")
    for name, value in known:
        if len(value) > fields[name]:
            raise Refusal(400, f"The field {name} has {len(value)} characters, where at most {fields[name]} are taken.")
    return urlencode(known).encode()


def well_formed(text: str) -> str:
    """Return `text` with a replacement character for each half of a surrogate pair, as browsers encode it."""
    return HALF.sub("\ufffd", text)


def client_of(scope: Scope) -> tuple[str, int]:
    """Return the address; one that a proxy has passed on may be anything."""
    host, port = scope.get("client") or ("", 0)
    return plain_address(host), port
