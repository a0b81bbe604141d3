"""A request made anew from the few fields that our pages and Gradio need, each of a known type and a bounded size.

Nothing else of what came over the wire is passed on. Gradio turns cookies into attributes (a cookie called `get` or
`__class__` broke each event), reads fields of the query and of the body that no page of ours sends, and repeats a wrong
value in its answer, where half of a surrogate pair cannot be encoded: each of these was a 500 with 8 kB of trace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.types import Scope

from grader.pages.plain import Refusal
from grader.pages.routes import Body, Route
from grader.service.limits import plain_address

LONGEST_QUERY, MOST_ASKED = 8192, 50  # bytes and fields
MOST_FIELDS = 30  # of a form
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


PORTS = {"http": 80, "https": 443}
HOST_AND_PORT = re.compile(r"([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?", re.IGNORECASE)
ELSEWHERE = "This request came from another site."
OTHER_SCHEME = (
    "This request came from a page at {sent}:// and was made to {own}://. Please reload the page. If that does not "
    "help, the site stands behind HTTPS without knowing it: whoever runs it has to set ATTENTION_GYM_COOKIE_SECURE=yes."
)


class Origin(NamedTuple):
    """What makes two addresses the same site."""

    scheme: str
    host: str
    port: int


def check_origin(headers: Headers, scheme: str) -> None:
    """Refuse a writing request that another site makes; `scheme` is what it came by.

    Raises:
        Refusal: the browser says that the request comes from elsewhere, or says it in no form that a browser uses.
    """
    if any(site not in ("same-origin", "none") for site in headers.getlist("sec-fetch-site")):
        raise Refusal(403, ELSEWHERE)
    sent = headers.getlist("origin")
    if not sent:
        return
    hosts = headers.getlist("host")
    ours = _origin(scheme, hosts[0]) if len(hosts) == 1 else None
    theirs = read_origin(sent[0]) if len(sent) == 1 else None
    if ours is None or theirs is None or theirs.host != ours.host:
        raise Refusal(403, ELSEWHERE)
    if theirs.scheme != ours.scheme:
        raise Refusal(403, OTHER_SCHEME.format(sent=theirs.scheme, own=ours.scheme))
    if theirs.port != ours.port:
        raise Refusal(403, ELSEWHERE)


def read_origin(text: str) -> Origin | None:
    """Return the origin that a browser names; None for `null`, and for whatever is none."""
    scheme, separator, rest = text.partition("://")
    return _origin(scheme.lower(), rest) if separator and scheme.lower() in PORTS else None


def _origin(scheme: str, host_and_port: str) -> Origin | None:
    match = HOST_AND_PORT.fullmatch(host_and_port)
    if match is None:
        return None
    port = int(match[2]) if match[2] else PORTS.get(scheme, 0)
    return Origin(scheme, match[1].lower(), port) if 0 < port < 65536 else None


BY_NUMBER = "predict"  # the name that browsers use for every event
SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}")
SHORT = 100  # characters
MOST_OUTSIDE, MOST_STRINGS = 4096, 200  # characters outside of the strings of a document, and how many strings it has
PIECE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[^"]++', re.DOTALL)  # a string, or what is between two
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Text:
    """An input: its greatest length in characters, None for no limit but that of the body; or the choices for it."""

    longest: int | None = SHORT
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """An event of our pages: the number that Gradio gave it, its inputs, and whether it may wait for its turn."""

    number: int
    inputs: tuple[Text, ...] = ()
    may_wait: bool = False


Events = Mapping[str, Event]  # by name


def parse(body: bytes) -> Document:
    """Return the JSON object in a body.

    What our pages send is little more than a few strings. Half a megabyte of empty lists takes 200 ms to read, and a
    long string 1 ms; nothing else runs meanwhile, in no thread.

    Raises:
        Refusal: there is none, or it is more than a few strings.
    """
    try:
        text = body.decode()
        _check_size(text)
        document = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Refusal(400, "The body is not valid JSON.") from None
    if not isinstance(document, dict):
        raise Refusal(400, "Send an event as a JSON object.")
    return document


def _check_size(text: str) -> None:
    outside = 0
    for number, piece in enumerate(PIECE.finditer(text)):
        if not piece[0].startswith('"'):
            outside += len(piece[0])
        if outside > MOST_OUTSIDE or number > 2 * MOST_STRINGS:
            raise Refusal(400, "The body is more than an event of these pages.")


def check_event(events: Events, name: str, document: Document) -> Event:
    """Return the event of our pages that was sent, after checking its form.

    Args:
        events: the known ones.
        name: the name in the request's path.
        document: from `parse`.

    Raises:
        Refusal: there is no such event, or it has another form.
    """
    event = _find(events, name, document.get("fn_index"))
    if event is None:
        raise Refusal(404, "There is no such event.")
    data, session = document.get("data"), document.get("session_hash")
    if not isinstance(data, list) or len(data) != len(event.inputs):
        raise Refusal(400, f"This event needs a list of {len(event.inputs)} inputs as `data`.")
    if document.get("batched"):
        raise Refusal(400, "Send events one by one, not batched.")
    if not isinstance(session, str) or not SESSION.fullmatch(session):
        raise Refusal(400, "An event needs a `session_hash` of 1 to 64 letters, digits, - and _.")
    return event


def remade(event: Event, document: Document) -> bytes:
    """Return the body to send to Gradio: the event's number and its inputs; for a session it would keep something.

    Raises:
        Refusal: an input has another form.
    """
    data = [_text(form, value) for form, value in zip(event.inputs, document["data"], strict=True)]
    return json.dumps({"fn_index": event.number, "data": data}).encode()


def _text(form: Text, value: object) -> str:
    if value is None and not form.choices:
        return ""  # what an untouched field may hold
    if not isinstance(value, str):
        raise Refusal(400, "The inputs of an event must be strings.")
    if form.longest is not None and len(value) > form.longest:
        raise Refusal(400, f"This input has {len(value)} characters; at most {form.longest} are accepted.")
    if form.choices and value not in form.choices:
        raise Refusal(400, f"This input must be one of: {', '.join(form.choices)}.")
    return well_formed(value)


def _find(events: Events, name: str, number: object) -> Event | None:
    """Return the event that Gradio would choose: by its number where there is one; browsers send no name."""
    wanted = None if isinstance(number, bool) else number
    if name == BY_NUMBER:
        return next((event for event in events.values() if event.number == wanted), None)
    event = events.get(name)
    return event if event is not None and (number is None or event.number == wanted) else None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
