"""What may be sent to Gradio: a known event, made anew from its number and inputs that are texts of a known form.

Gradio itself answers an unknown event, an input too few, a choice that is none or a field of another type with an error
of its own and a trace in the log; here each is told to the caller in a sentence, and goes no further.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.pages.rebuild import well_formed
from grader.pages.refusal import Refusal

BY_NUMBER = "predict"  # the name by which a browser sends any event
SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}")
ID = re.compile(r"[0-9a-f]{1,64}")
SHORT = 100  # characters
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Text:
    """An input: how many characters it has at most, None for as many as a body holds; or what it is one of."""

    longest: int | None = SHORT
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """An event of ours: the number that Gradio gave it, the form of its inputs, whether it may wait for its turn."""

    number: int
    inputs: tuple[Text, ...] = ()
    patient: bool = False


Events = Mapping[str, Event]  # by name


def parse(body: bytes) -> Document:
    """Return the object that a body holds.

    Raises:
        Refusal: it is no JSON object.
    """
    try:
        document = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Refusal(400, "That is no JSON.") from None
    if not isinstance(document, dict):
        raise Refusal(400, "An event is a JSON object.")
    return document


def check_event(events: Events, name: str, document: Document) -> Event:
    """Return the event that is sent, which is one of ours, in the form that it has.

    Args:
        events: the known ones.
        name: by which it is called.
        document: from `parse`.

    Raises:
        Refusal: there is no such event, or it is not sent as it is taken.
    """
    event = _find(events, name, document.get("fn_index"))
    if event is None:
        raise Refusal(404, "There is no such event.")
    data, session = document.get("data"), document.get("session_hash")
    if not isinstance(data, list) or len(data) != len(event.inputs):
        raise Refusal(400, f"This event takes a list of {len(event.inputs)} inputs as its data.")
    if document.get("batched"):
        raise Refusal(400, "Events are taken one by one.")
    if not isinstance(session, str) or not SESSION.fullmatch(session):
        raise Refusal(400, "An event names its page's session_hash, 1 to 64 letters, digits, - and _.")
    return event


def remade(event: Event, document: Document) -> bytes:
    """Return the body that Gradio is given: the event's number, its inputs, and the id of a line that was clicked.

    Raises:
        Refusal: an input is not of its form.
    """
    data = [_text(form, value) for form, value in zip(event.inputs, document["data"], strict=True)]
    clicked = document.get("event_data")
    id = clicked.get("id") if isinstance(clicked, dict) else None
    told = {"id": id} if isinstance(id, str) and ID.fullmatch(id) else None
    return json.dumps({"fn_index": event.number, "data": data, "event_data": told, "session_hash": "page"}).encode()


def _text(form: Text, value: object) -> str:
    if value is None and not form.choices:
        return ""  # what a field that nobody has touched may hold
    if not isinstance(value, str):
        raise Refusal(400, "The inputs of an event are texts.")
    if form.longest is not None and len(value) > form.longest:
        raise Refusal(400, f"This input has {len(value)} characters, where at most {form.longest} are taken.")
    if form.choices and value not in form.choices:
        raise Refusal(400, f"This input is one of: {', '.join(form.choices)}.")
    return well_formed(value)


def _find(events: Events, name: str, number: object) -> Event | None:
    """Return the event that Gradio would take: it goes by the number where there is one, and browsers give no name."""
    wanted = None if isinstance(number, bool) else number
    if name == BY_NUMBER:
        return next((event for event in events.values() if event.number == wanted), None)
    event = events.get(name)
    return event if event is not None and (number is None or event.number == wanted) else None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
