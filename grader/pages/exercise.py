"""The layout of the exercise page, and which event fills what; what the events do is in `exercise_handlers`.

It is laid out with `gr.Column` and `gr.HTML` only: browsers ask for scripts and styles of each other kind of component.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from grader.pages.exercise_handlers import ExerciseHandlers
from grader.pages.parts import kept, on, part
from grader.pages.run_status import away_view, idle_view, not_sent_view, sending_view, unreachable_view
from grader.pages.wording import pack
from grader.sandbox.gpu import NAMES

# The editor's text as it is right now; pressing the button shows at once.
TELL = "window.gym.tell('panel', {})"
PANELS = ", ".join(json.dumps(pack(view)) for view in (sending_view(), away_view(), not_sent_view()))
SEND = f"await window.gym.send({PANELS})"
SOURCE = f"async (exercise) => [exercise, {SEND}]"
SOURCE_FOR = f"async (exercise, source, device) => [exercise, {SEND}, device]"
NOT_SENT = f"() => {{ {TELL.format(json.dumps(pack(not_sent_view())))}; }}"
FOLLOW = f"(submission) => {{ window.gym.follow(submission, {json.dumps(pack(unreachable_view()))}); }}"
TABS = {"statement": "Statement", "hints": "Hints", "attempts": "My attempts", "board": "Leaderboard"}  # part: title
NEWS = "() => window.gym.news()"  # what the stream of a run has brought
DEVICES = {"cpu": "CPU only", "cuda": f"CPU, and also the {NAMES['cuda']}"}
WEAKER = (
    "On the GPU your code runs in a separate process with weaker isolation than the sandbox. "
    "Points come from the CPU in both cases."
)


@dataclass(frozen=True, slots=True)
class Left:
    """The left column: everything to read."""

    attempts: gr.HTML
    board: gr.HTML


@dataclass(frozen=True, slots=True)
class Right:
    """The right column: everything to do, and what came of it."""

    editor: gr.HTML
    buttons: gr.HTML
    panel: gr.HTML
    report: gr.HTML
    device: gr.Radio | None = None  # where there is a choice


@dataclass(frozen=True, slots=True)
class Hidden:
    """What the page remembers: the exercise, the submission being watched, and what the editor is told."""

    exercise: gr.HTML
    submission: gr.HTML
    paper: gr.HTML


def lay_out_exercise(blocks: gr.Blocks, handlers: ExerciseHandlers) -> None:
    """Build the page inside the current route of `blocks`."""
    header, title = part("header"), part("title")
    with gr.Column(elem_id="desk"):
        with gr.Column(scale=5, elem_id="left"):
            left = _left()
        with gr.Column(scale=7, elem_id="right"):
            right = _right(handlers.service.devices)
    part("bottom", value="{}")
    hidden = _hidden()
    _connect_opening(blocks, handlers, header=header, title=title, left=left, right=right, hidden=hidden)
    _connect_running(handlers, title=title, left=left, right=right, hidden=hidden)


def _left() -> Left:
    part("tabs", value=pack(TABS))
    part("statement", value="{}")
    part("hints", value="{}")
    return Left(part("attempts", events=["select"]), part("board"))


def _right(devices: tuple[str, ...]) -> Right:
    editor = part("editor", value=pack({"file": "attention.py"}))
    buttons = part("buttons", events=["click", "stop"], value="{}")
    device = _choice(devices) if len(devices) > 1 else None
    part("try", value="{}")
    with gr.Column(elem_id="result"):
        panel = part("panel", events=["input"], value=pack(idle_view()))
        report = part("report")
    return Right(editor, buttons, panel, report, device)


def _choice(devices: tuple[str, ...]) -> gr.Radio:
    """Return the choice of where to run; the exercise decides whether it is shown."""
    choices = [(DEVICES.get(device, device), device) for device in devices]
    return gr.Radio(choices, value=devices[0], label="Where to run", info=WEAKER, elem_id="device", visible=False)


def _hidden() -> Hidden:
    with gr.Column(elem_classes="gym-quiet"):
        return Hidden(kept("exercise"), kept("submission"), part("paper"))


def _connect_opening(
    blocks: gr.Blocks,
    handlers: ExerciseHandlers,
    *,
    header: gr.HTML,
    title: gr.HTML,
    left: Left,
    right: Right,
    hidden: Hidden,
) -> None:
    state = [hidden.paper, hidden.exercise, hidden.submission]
    filled = [header, title, *state, left.attempts, left.board, right.panel, right.report]
    fill, parts = (handlers.open_with_devices, [*filled, right.device]) if right.device else (handlers.open, filled)
    opened = on(blocks.load, fill, None, parts, name="open")
    # A submission that was on its way when the page was closed is followed again.
    opened.success(None, hidden.submission, None, js=FOLLOW, api_visibility="private")
    on(left.attempts.select, handlers.restore, None, [hidden.paper, right.panel, right.report], name="restore")


def _connect_running(handlers: ExerciseHandlers, *, title: gr.HTML, left: Left, right: Right, hidden: Hidden) -> None:
    send: Callable[..., Any]
    fields: list[Any]
    send, fields, js = handlers.submit, [hidden.exercise, right.editor], SOURCE
    if right.device:
        send, fields, js = handlers.submit_to, [*fields, right.device], SOURCE_FOR
    submitted = on(right.buttons.click, send, fields, [hidden.submission, right.panel], name="submit", js=js)
    submitted.success(None, hidden.submission, None, js=FOLLOW, api_visibility="private")
    submitted.failure(None, None, None, js=NOT_SENT, api_visibility="private")
    moving = [right.panel, right.report, title, left.attempts, left.board]
    right.panel.input(None, None, moving, js=NEWS, trigger_mode="multiple", api_visibility="private")
    on(right.buttons.stop, handlers.cancel, hidden.submission, None, name="cancel")
