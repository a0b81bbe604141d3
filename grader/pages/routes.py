"""Which paths there are, and what may come with a request to each: its methods, the fields of its query, its body.

This is a closed list. A path that is not here is 404, a method that is not here is 405, and a field that is not here
goes no further.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from grader.exercise.spec import Dimension

GRADIO_FILES = Path(__file__).with_name("gradio_files.txt")
EVENTS = "/gradio_api/run/"
EVENT = re.compile(r"/gradio_api/run/([a-z_]{1,40})/?")
RUN = re.compile(r"/runs/[0-9a-f]{1,64}")
LONGEST_FIELD = 2000  # characters of a field of a form; the service says more exactly what it takes
FILES = {  # ours; the last part of `exercise.js` and of `reader.js` says that all of its parts can be drawn
    "math.woff2": ("math.woff2",),
    "gym.css": ("uPlot.min.css", "gym.css"),
    "gym.js": ("gym.js", "tabs.js", "loading.js", "lists.js", "school.js", "report.js", "figures.js", "curves.js"),
    "exercise.js": ("codemirror.js", "draw.js", "try.js", "files.js", "editor.js"),
    "reader.js": ("highlight.js", "reader.js"),
    "charts.js": ("uPlot.iife.min.js",),  # only where a curve is drawn
    "microscope.js": ("microscope.js",),  # only where a reader comes near to one
}


class Page(NamedTuple):
    """A page that the header of every page leads to: its address, and its name there."""

    path: str
    title: str


EXERCISES, LEADERBOARD, WORK = Page("/", "Exercises"), Page("/leaderboard", "Leaderboard"), Page("/work", "My work")
ASSIGNMENTS = Page("/assignments", "Assignments")  # of those who are in a class
PAGES = (EXERCISES, LEADERBOARD, WORK)  # as the header has them; the first one is the front page
COMPARE = "/compare"
RESULTS = "/assignments/results"


class Body(Enum):
    """What a request may bring along."""

    NONE = "nothing"
    FORM = "application/x-www-form-urlencoded"
    EVENT = "application/json"
    TEXT = "text/plain"


@dataclass(frozen=True, slots=True)
class Route:
    """What may be asked for at a path.

    Attributes:
        methods: of HTTP.
        query: the fields of the query that are passed on, and how many characters each has at most.
        body: what a POST brings along.
        form: the fields of a form that are passed on, and how many characters each has at most.
        static: whether it is the same for everybody, and costs nothing to send.
        waits: whether it may stand in a queue of its own, for a try or a hash, and takes no thread meanwhile.
        bearer: whether a token that the request shows in `Authorization` is passed on.
        most: how many bytes a body has at most; 0: as many as is usual.
    """

    methods: tuple[str, ...] = ("GET", "HEAD")
    query: Mapping[str, int] = field(default_factory=dict)
    body: Body = Body.NONE
    form: Mapping[str, int] = field(default_factory=dict)
    static: bool = False
    waits: bool = False
    bearer: bool = False
    most: int = 0


def _form(*names: str) -> Route:
    fields = dict.fromkeys(names, LONGEST_FIELD)
    return Route(("GET", "HEAD", "POST"), {"next": 500}, Body.FORM, fields, waits=True)


PLAIN = Route()
FILE = Route(static=True)
STREAM = Route(("GET",))  # of a run; who asked for its head alone would wait for its end
EXERCISE = {"ex": 100}  # the field of a query that names an exercise, and its longest value
ATTEMPT = {**EXERCISE, "attempt": 100}  # an exercise, and the id of one's own attempt at it
LISTED = {"list": 10, "ex": 100, "mistake": 100, "flag": 40}  # what an instructor's list is narrowed to
CLASS = {"class": 160}  # the key of a class
TEACH = {**CLASS, "student": 20, "submission": 100, "track": 100, "best": 10, **LISTED}
SENT = Route(("POST",), ATTEMPT, Body.EVENT)
METRICS = "/metrics"
LONGEST_FILE = 2 << 20  # characters of a registrar's file, in base64 or as it was pasted
CELL = {**CLASS, "person": 254, "assignment": 160}  # of a class's gradebook
TEXT = 12_000  # characters of what has a line for each section or exercise


def _of_class(*names: str, form: Mapping[str, int] | None = None, most: int = 0) -> Route:
    """Return a page of a class, whose query names it and more."""
    query = {**CLASS, **{name: CELL.get(name, 100) for name in names}}
    if form is None:
        return Route(query=query)
    return Route(("GET", "HEAD", "POST"), query, Body.FORM, {"sure": 10, **form}, most=most)


SCHOOL = {
    "/classes": PLAIN,
    "/class": _of_class(),
    "/class/gradebook": _of_class("section", "find"),
    "/class/cell": _of_class(
        "person", "assignment",
        form={"do": 20, "field": 20, "value": 40, "points": 20, "reason": 2000, "revision": 10, "text": 2000,
              "shown": 10},
    ),
    "/class/student": _of_class("person"),
    "/class/attempt": _of_class("person", "assignment", "attempt"),
    "/class/export": _of_class("format"),
    "/class/links": Route(("POST",), CLASS, Body.FORM, {}),
    "/class/roster": _of_class(
        form={"csv": LONGEST_FILE, "file": LONGEST_FILE, "confirm": 10}, most=3 * LONGEST_FILE
    ),
    "/class/exceptions": _of_class(
        form={"people": TEXT, "assignment": 160, "field": 20, "value": 40, "reason": 2000, "csv": LONGEST_FILE,
              "file": LONGEST_FILE},
        most=3 * LONGEST_FILE,
    ),
    "/class/assignment": _of_class(
        "assignment",
        form={
            **dict.fromkeys(("grace", "per_day", "at_most", "of", "bank_max", "cutoff", "count", "attempts"), 20),
            **dict.fromkeys((f"show_{part}" for part in Dimension), 40),
            "key": 160, "title": 200, "items": TEXT, "opens": 40, "due": 40, "section_due": TEXT, "show": 40,
            "revision": 10,
        },
    ),
    "/class/copy": _of_class(form={"key": 160, "name": 80, "weeks": 10}),
    "/class/publication": _of_class("assignment", form={"hold": TEXT, "person": 254}),
    "/class/audit": _of_class(),
    "/class/mistakes": _of_class("exercise", "assignment", "section", "week"),
    "/class/results": _of_class("person", "change", "attempt"),
    "/class/regrade": _of_class(
        "change", "before", "after",
        form={"act": 20, "exercise": 100, "keep": 20, "which": 20, "reason": 2000, "seen": 64},
    ),
}  # fmt: skip
OWN = {
    EXERCISES.path: PLAIN,
    LEADERBOARD.path: Route(query={**EXERCISE, **CLASS}),
    WORK.path: PLAIN,
    ASSIGNMENTS.path: Route(
        ("GET", "HEAD", "POST"), body=Body.FORM, form={"attempt": 100, "undo": 10, "read": 20, "school": 160}
    ),
    RESULTS: Route(query={**CLASS, "change": 100, "attempt": 100}),
    COMPARE: Route(query={"attempt": 100, "before": 100}),
    "/exercise": Route(query=ATTEMPT),
    "/sign-in": _form("name", "password", "next"),
    "/register": _form("name", "password", "class_code", "next"),
    "/draft": Route(("POST",), {**EXERCISE, "base": 40}, Body.TEXT),
    "/try": Route(("POST",), EXERCISE, Body.TEXT, waits=True),
    "/account": _form("act", "password", "new", "name", "board", "school"),
    "/reset": Route(
        ("GET", "HEAD", "POST"),
        {"token": 200},
        Body.FORM,
        dict.fromkeys(("token", "password"), LONGEST_FIELD),
        waits=True,
    ),
    "/teach/reset": Route(("POST",), CLASS, Body.FORM, form={"student": 20}),
    "/teach/class": Route(("GET", "HEAD", "POST"), {"find": 64, **CLASS}, Body.FORM, {"sure": 10}),
    "/teach/member": Route(
        ("GET", "HEAD", "POST"),
        {"person": 20, **CLASS},
        Body.FORM,
        {"person": 20, "act": 20, "sure": 10, "name": LONGEST_FIELD},
    ),
    "/join": _form("class_code"),
    "/visit": Route(("POST",), body=Body.FORM),
    "/sign-out": Route(("POST",), body=Body.FORM),
    "/health": FILE,
    "/ready": PLAIN,
    METRICS: Route(bearer=True),
    "/favicon.ico": FILE,
    "/robots.txt": PLAIN,
    "/teach": Route(query=TEACH),
    "/teach/": Route(query=TEACH),
    "/teach/export.csv": Route(query=CLASS),
    **SCHOOL,
}
GRADIO = ("/config", "/theme.css", "/gradio_api/info", "/gradio_api/app_id")


class Routes:
    """Finds the route of a path."""

    def __init__(self, *, metrics: bool = False) -> None:
        """Read which files there are; `metrics` says whether there are figures to ask for."""
        files = (
            *(f"/gym/{name}" for name in FILES),
            *(f"/{name}" for name in GRADIO_FILES.read_text(encoding="utf-8").split()),
        )
        self._table = {**dict.fromkeys(files, FILE), **dict.fromkeys(GRADIO, PLAIN), **OWN}
        if not metrics:
            del self._table[METRICS]

    def find(self, path: str) -> Route | None:
        """Return what may be asked for at `path`; None where there is nothing."""
        if EVENT.fullmatch(path):
            return SENT
        return STREAM if RUN.fullmatch(path) else self._table.get(path)


def event_of(path: str) -> str:
    """Return the name of the event that a path leads to."""
    found = EVENT.fullmatch(path)
    return found[1] if found else ""


def is_stream(path: str) -> bool:
    """Return whether the answer at a path goes on until a submission is graded."""
    return RUN.fullmatch(path) is not None


def is_static(path: str) -> bool:
    """Return whether a path is below those of files, which a browser may keep."""
    return path.startswith(("/gym/", "/assets/", "/static/"))
