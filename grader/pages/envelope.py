"""What may be sent to Gradio: a known event, rebuilt from its number and its inputs, strings of a known form.

Gradio answers an unknown event, a missing input, an unknown choice or a field of a wrong type with an error and a
traceback in the log. Here the sender is told in a sentence what is wrong, and Gradio never sees it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.pages.rebuild import well_formed
from grader.pages.refusal import Refusal

BY_NUMBER = "predict"  # the name that browsers use for every event
SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}")
ID = re.compile(r"[0-9a-f]{1,64}")
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
    patient: bool = False


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
    """Return the body to send to Gradio: the event's number, its inputs, and the id of a row that was clicked.

    Raises:
        Refusal: an input has another form.
    """
    data = [_text(form, value) for form, value in zip(event.inputs, document["data"], strict=True)]
    clicked = document.get("event_data")
    id = clicked.get("id") if isinstance(clicked, dict) else None
    told = {"id": id} if isinstance(id, str) and ID.fullmatch(id) else None
    return json.dumps({"fn_index": event.number, "data": data, "event_data": told, "session_hash": "page"}).encode()


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
