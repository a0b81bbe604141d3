"""The exercise page: its layout in Gradio, which event fills what, and what stands there until Gradio is up.

It is laid out with `gr.Column` and `gr.HTML` only: browsers ask for scripts and styles of each other kind of component.
What the events do is in `exercise_handlers`.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import gradio as gr
from fastapi import FastAPI
from gradio.components.navbar import Navbar
from starlette.types import Scope

from grader.errors import record
from grader.exercise.catalog import Catalog
from grader.pages import catalogue, plain, run_status, statement
from grader.pages.exercise_handlers import ExerciseHandlers
from grader.pages.plain import MET, STORE_FAULTS
from grader.pages.requests import Event, Events, Text, asked_of
from grader.pages.routes import EXERCISE, PAGES
from grader.pages.wording import pack
from grader.sandbox.gpu import NAMES

LOG = logging.getLogger(__name__)
MAY_WAIT = ("submit",)  # these events wait for their turn on a busy server; the others are refused
BROKEN = (
    "This does not work at the moment because of an error on our side. Please try again. "
    "Your instructor can look for incident {}."
)
SHOW_STATUS_JS = "window.gym.tell('panel', {})"
PANELS = ", ".join(
    json.dumps(pack(view)) for view in (run_status.sending_view(), run_status.away_view(), run_status.not_sent_view())
)
# The editor's text as it is right now; the page shows at once that the button was pressed.
SEND_JS = f"await window.gym.send({PANELS})"
SUBMIT_JS = f"async (exercise) => [exercise, {SEND_JS}]"
SUBMIT_TO_JS = f"async (exercise, source, device) => [exercise, {SEND_JS}, device]"
CHOSEN_JS = "() => [window.gym.chosen]"  # an earlier attempt that was clicked
NOT_SENT_JS = f"() => {{ {SHOW_STATUS_JS.format(json.dumps(pack(run_status.not_sent_view())))}; }}"
UNREACHABLE = json.dumps(pack(run_status.unreachable_view()))
FOLLOW_JS = f"(submission) => {{ window.gym.follow(submission, {UNREACHABLE}); }}"
NEWS_JS = "() => window.gym.news()"  # what the stream of a run has brought
TABS = {"statement": "Statement", "hints": "Hints", "attempts": "My attempts", "board": "Leaderboard"}  # part: title
DEVICES = {"cpu": "CPU only", "cuda": f"CPU, and also the {NAMES['cuda']}"}
WEAKER = (
    "On the GPU your code runs in a separate process with weaker isolation than the sandbox. "
    "Points come from the CPU in both cases."
)


class PastTheQueue(gr.Blocks):
    """Blocks whose events all go past Gradio's queue, which would look a thousand times a second whether one waits."""

    def run_startup_events(self) -> None:
        """Start all but the queue."""
        self.is_running = True
        self.create_limiter()  # type: ignore[no-untyped-call]  # Gradio's own has no types


def mount_exercise(app: FastAPI, handlers: ExerciseHandlers) -> Events:
    """Put the page below `app`, which may answer everything else before it.

    Returns:
        what may be sent to it: whatever calls a function of ours, and not only the page's own scripts
    """
    with PastTheQueue(title="Attention Gym", analytics_enabled=False, fill_width=True) as blocks:
        pass  # the front page is not Gradio's
    with blocks.route("Exercise", "exercise"):
        Navbar(visible=False)  # the header is ours
        lay_out_exercise(blocks, handlers)
    blocks.queue(api_open=False)
    with warnings.catch_warnings():
        # Gradio warns that it renders several pages in the browser only, which is what `ssr_mode=False` asks for.
        warnings.filterwarnings("ignore", "SSR mode is not supported", UserWarning)
        gr.mount_gradio_app(
            app, blocks, path="/", theme=_theme(), ssr_mode=False, pwa=False, mcp_server=False, run_history=False,
            show_error=False, enable_monitoring=False, footer_links=[], blocked_paths=["/"], max_file_size=1,
        )  # fmt: skip
    # Without this, Gradio takes any path of this machine for a file that the caller has uploaded.
    blocks.has_launched = True
    ours = ((number, fn) for number, fn in blocks.fns.items() if fn.fn is not None)
    return {
        str(fn.api_name): Event(number, tuple(map(_form, fn.inputs)), fn.api_name in MAY_WAIT) for number, fn in ours
    }


def _form(component: object) -> Text:
    """Return what an input may hold.

    Raises:
        TypeError: nobody has said so yet.
    """
    if isinstance(component, gr.Radio):
        return Text(choices=tuple(str(value) for _, value in component.choices))
    if isinstance(component, gr.HTML):
        return Text(longest=None) if component.elem_id == "editor" else Text()
    raise TypeError(f"`{type(component).__name__}` is no input yet; expected: its form here, in `_form`")


def lay_out_exercise(blocks: gr.Blocks, handlers: ExerciseHandlers) -> None:
    """Build the page inside the current route of `blocks`: to the left all to read, to the right all to do."""
    header, title = part("header"), part("title")
    with gr.Column(elem_id="desk"):
        with gr.Column(scale=5, elem_id="left"):
            part("tabs", value=pack(TABS))
            part("statement", value="{}")
            part("hints", value="{}")
            attempts, board = part("attempts", events=["select"]), part("board")
        with gr.Column(scale=7, elem_id="right"):
            editor = part("editor", value=pack({"file": "attention.py"}))
            buttons = part("buttons", events=["click", "stop"], value="{}")
            device = _choice(handlers.service.devices)
            part("try", value="{}")
            with gr.Column(elem_id="result"):
                panel = part("panel", events=["input"], value=pack(run_status.idle_view()))
                report = part("report")
    part("bottom", value="{}")
    with gr.Column(elem_classes="gym-quiet"):
        exercise, submission, chosen, editor_state = (
            kept("exercise"),
            kept("submission"),
            kept("chosen"),
            part("editor_state"),
        )

    filled = [header, title, editor_state, exercise, submission, attempts, board, panel, report]
    fill, parts = (handlers.open_with_devices, [*filled, device]) if device else (handlers.open, filled)
    opened = on(blocks.load, fill, None, parts, name="open")
    # A submission that was on its way when the page was closed is followed again.
    opened.success(None, submission, None, js=FOLLOW_JS, api_visibility="private")
    on(attempts.select, handlers.restore, chosen, [editor_state, panel, report], name="restore", js=CHOSEN_JS)

    send: Callable[..., Any] = handlers.submit_to if device else handlers.submit
    fields = [exercise, editor, *([device] if device else [])]
    js = SUBMIT_TO_JS if device else SUBMIT_JS
    sent = on(buttons.click, send, fields, [submission, panel], name="submit", js=js)
    sent.success(None, submission, None, js=FOLLOW_JS, api_visibility="private")
    sent.failure(None, None, None, js=NOT_SENT_JS, api_visibility="private")
    moving = [panel, report, title, attempts, board]
    panel.input(None, None, moving, js=NEWS_JS, trigger_mode="multiple", api_visibility="private")
    on(buttons.stop, handlers.cancel, submission, None, name="cancel")


def _choice(devices: tuple[str, ...]) -> gr.Radio | None:
    """Return the choice of where to run, if there is one; the exercise decides whether it is shown."""
    if len(devices) < 2:
        return None
    choices = [(DEVICES.get(device, device), device) for device in devices]
    return gr.Radio(
        choices,
        value=devices[0],
        label="Where to run",
        info=WEAKER,
        elem_id="device",
        visible=False,
    )


def part(name: str, *, events: Sequence[str] = (), value: str | None = None) -> gr.HTML:
    """Return a piece of the page that `gym.parts[name]` draws from the line of JSON it is sent.

    The template is empty on purpose: Gradio would run what is filled into one as JavaScript.

    Args:
        name: of the drawing function, and the element's id.
        events: what the script may trigger.
        value: what to draw before anything was sent, from `wording.pack`.
    """
    # Gradio takes an event for declared if its name stands in the script, in quotes.
    declared = ", ".join(f"'{event}'" for event in events)
    script = f"gym.mount('{name}', element, props, trigger, watch); /* triggers: {declared} */"
    return gr.HTML(value=value, html_template="<div></div>", js_on_load=script, elem_id=name, apply_default_css=False)


def kept(name: str) -> gr.HTML:
    """Return a text that the page keeps and never shows: what an event may give, and another may take."""
    return gr.HTML(html_template="<div></div>", js_on_load=None, elem_id=name, apply_default_css=False)


def on(event: Callable[..., Any], do: Callable[..., Any], given: Any, shown: Any, *, name: str, js: str = "") -> Any:
    """Let an event of the page call one of our functions, and return what may follow it.

    Past Gradio's queue: an answer comes with its request, and nothing of it is kept for a page that may never ask.
    Faults go to our log; Gradio would print each to the error stream, past every bound.

    Args:
        event: of a component, as in `button.click`.
        do: the function.
        given: the components whose values it takes, or None.
        shown: the components that it fills, or None.
        name: what it is called by in requests.
        js: what the browser makes of the values before it sends them.
    """

    @wraps(do)
    def answer(*values: Any) -> Any:
        try:
            return do(*values)
        except Exception as fault:
            cause = fault.__cause__ if isinstance(fault, gr.Error) else fault
            if isinstance(cause, STORE_FAULTS) and (met := MET.get()) is not None:
                met.append(cause)
            if isinstance(fault, gr.Error):
                raise
            incident = record(LOG, f"the event {name} broke", fault)
            raise gr.Error(BROKEN.format(incident), print_exception=False) from fault

    return event(answer, given, shown, api_name=name, js=js or None, queue=False, show_progress="hidden")


def _theme() -> gr.themes.Base:
    """Return Gradio's look: our colours, the system's fonts, nothing fetched from elsewhere."""
    return gr.themes.Default(
        primary_hue="indigo",
        neutral_hue="slate",
        spacing_size="sm",
        radius_size="md",
        font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "DejaVu Sans", "sans-serif"],
        font_mono=["ui-monospace", "SF Mono", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace"],
    ).set(
        body_background_fill="#ffffff",
        body_background_fill_dark="#0f172a",
        background_fill_primary_dark="#0f172a",
        block_background_fill_dark="#0f172a",
        body_text_color_subdued="*neutral_600",
        body_text_color_subdued_dark="*neutral_400",
        block_border_width="0px",
        block_padding="0px",
        layout_gap="12px",
    )


class FirstPaint:
    """What the page shows before any script has run: heading, statement and starter, in their later positions.

    Gradio takes seconds to start on a slow phone. Until it has, this stands in its place, so that nothing moves when
    the scripts take over (`gym.ready`). Statement and hints are sent here only, and are taken over.
    """

    def __init__(self, catalog: Catalog) -> None:
        """Know the exercises."""
        self._catalog = catalog
        self._written: dict[tuple[str, str], bytes] = {}

    def of(self, scope: Scope) -> bytes:
        """Return what the page at an address begins with; nothing where it is not that of an exercise."""
        if scope["path"] != "/exercise":
            return b""
        asked = asked_of(scope.get("query_string", b""), EXERCISE).get("ex", "")
        exercise = self._catalog.get(asked) or next(iter(self._catalog.values()))
        key = exercise.id, catalogue.notice(self._catalog, asked)
        if key not in self._written:
            links = [{"text": page.title, "href": page.path, "here": False} for page in PAGES]
            self._written[key] = plain.render(
                "first.html",
                header={"links": links, "coming": True},
                notice=key[1],
                name=catalogue.numbered(self._catalog, exercise.id),
                facts=catalogue.facts(exercise),
                needs=bool(exercise.spec.needs),
                statement=statement.to_html(exercise.statement),
                starter=exercise.starter,
                hints=[statement.to_html(text) for text in exercise.hints],
            ).encode()
        return self._written[key]
