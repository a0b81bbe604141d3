"""What may be sent to Gradio: a known event with as many inputs as it has, under a session of the usual form.

Gradio itself answers an unknown event, a number that is none or an input too few with an error of its own and a trace
in the log; here each is told to the caller in a sentence, and goes no further.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.pages.refusal import Refusal

DEEPEST = 40  # levels of nesting in a body
BY_NUMBER = "predict"  # the name by which a browser sends any event
SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}")
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """An event of ours: the number that Gradio gave it, how many inputs it takes, whether it may wait for its turn."""

    number: int
    inputs: int
    patient: bool = False


Events = Mapping[str, Event]  # by name


def parse(body: bytes) -> Document:
    """Return the object that a body holds.

    Raises:
        Refusal: it is no JSON object, too deep, or holds a dictionary with both `path` and `meta`, a file to Gradio.
    """
    try:
        document = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Refusal(400, "That is no JSON.") from None
    if not isinstance(document, dict):
        raise Refusal(400, "An event is a JSON object.")
    level: list[object] = [document]
    for _ in range(DEEPEST):
        if any(isinstance(value, dict) and "path" in value and "meta" in value for value in level):
            raise Refusal(400, "Files are not taken here.")
        level = [inner for value in level for inner in _children(value)]
        if not level:
            return document
    raise Refusal(400, "That is nested too deeply.")


def check_event(events: Events, route: str, document: Document) -> Event:
    """Return the event that is sent, which is one of ours, in the form that it has.

    Args:
        events: the known ones.
        route: the path after `/gradio_api/`.
        document: from `parse`.

    Raises:
        Refusal: there is no such event, or it is not sent as it is taken.
    """
    event = _find(events, route.removeprefix("run/"), document.get("fn_index"))
    if event is None:
        raise Refusal(404, "There is no such event.")
    data, session = document.get("data"), document.get("session_hash")
    if not isinstance(data, list) or len(data) != event.inputs:
        raise Refusal(400, f"This event takes a list of {event.inputs} inputs as its data.")
    if document.get("batched"):
        raise Refusal(400, "Events are taken one by one.")
    if not isinstance(session, str) or not SESSION.fullmatch(session):
        raise Refusal(400, "An event names its page's session_hash, 1 to 64 letters, digits, - and _.")
    return event


def _find(events: Events, name: str, number: object) -> Event | None:
    """Return the event that Gradio would take: it goes by the number where there is one, and browsers give no name."""
    wanted = None if isinstance(number, bool) else number
    if name == BY_NUMBER:
        return next((event for event in events.values() if event.number == wanted), None)
    event = events.get(name)
    return event if event is not None and (number is None or event.number == wanted) else None


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
