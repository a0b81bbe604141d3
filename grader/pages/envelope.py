"""What may be sent to Gradio: a known event with as many inputs as it has, under a session of the usual form.

Gradio itself answers an unknown event, a number that is none or an input too few with an error of its own and a trace
in the log; here each is told to the caller in a sentence, and goes no further.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from grader.pages.refusal import Refusal

DEEPEST = 40  # levels of nesting in a body
SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}")
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Events:
    """The events of one mount: how many inputs each takes, by its number and by its name."""

    numbers: Mapping[int, int]
    names: Mapping[str, int]

    @classmethod
    def of(cls, events: Iterable[tuple[int, str, int]]) -> Events:
        """Return the events with these numbers, names and amounts of inputs."""
        known = list(events)
        return cls({number: inputs for number, _, inputs in known}, {name: inputs for _, name, inputs in known})


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


def check_event(events: Events, route: str, document: Document) -> str | None:
    """Return the session that an event is sent under, None for one of its own.

    Args:
        events: the known ones.
        route: the path after `/gradio_api/`.
        document: from `parse`.

    Raises:
        Refusal: there is no such event, or it is not sent in the form that it has.
    """
    if route == "cancel":
        _check_cancel(document)
        return session_of(document)
    if route != "queue/join" and not route.startswith("call/"):
        return None
    inputs = _inputs(events, route, document)
    data = document.get("data")
    if not isinstance(data, list) or len(data) != inputs:
        raise Refusal(400, f"This event takes a list of {inputs} inputs as its data.")
    if document.get("batched"):
        raise Refusal(400, "Events are taken one by one.")
    return session_of(document, needed=route == "queue/join")


def session_of(document: Document, *, needed: bool = True) -> str | None:
    """Return the session that a body names.

    Raises:
        Refusal: it has not the form of one, or is needed and missing.
    """
    session = document.get("session_hash")
    if session is None and not needed:
        return None
    if not isinstance(session, str) or not SESSION.fullmatch(session):
        raise Refusal(400, "A session is named by 1 to 64 letters, digits, - and _.")
    return session


def _inputs(events: Events, route: str, document: Document) -> int:
    if route == "queue/join":
        number = document.get("fn_index")
        found = events.numbers.get(number) if isinstance(number, int) and not isinstance(number, bool) else None
    else:
        found = events.names.get(route.removeprefix("call/"))
    if found is None:
        raise Refusal(404, "There is no such event.")
    return found


def _check_cancel(document: Document) -> None:
    if not isinstance(document.get("event_id"), str) or not isinstance(document.get("fn_index"), int):
        raise Refusal(400, "An event is cancelled by its event_id and fn_index.")


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
