"""The layout of the exercise page, and which event fills what; what the events do is in `exercise_handlers`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from grader.pages.exercise_handlers import ExerciseHandlers
from grader.pages.parts import on, part
from grader.pages.run_status import away_view, idle_view, not_sent_view, sending_view
from grader.pages.wording import pack
from grader.sandbox.gpu.names import NAMES

# The editor's text as it is right now; pressing the button shows at once.
TELL = "window.gym.tell('panel', {})"
SEND = f"await window.gym.send({json.dumps(pack(sending_view()))}, {json.dumps(pack(away_view()))})"
SOURCE = f"async (exercise) => [exercise, {SEND}]"
SOURCE_FOR = f"async (exercise, source, device) => [exercise, {SEND}, device]"
NOT_SENT = f"() => {{ {TELL.format(json.dumps(pack(not_sent_view())))}; }}"
FOLLOW = "(submission) => { window.gym.follow(submission); }"
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
    run: gr.Button
    cancel: gr.Button
    panel: gr.HTML
    report: gr.HTML
    device: gr.Radio | None = None  # where there is a choice


@dataclass(frozen=True, slots=True)
class Hidden:
    """What the page remembers: the exercise, the submission being watched, and what the editor is told."""

    exercise: gr.Textbox
    submission: gr.Textbox
    paper: gr.HTML


def lay_out_exercise(blocks: gr.Blocks, handlers: ExerciseHandlers) -> None:
    """Build the page inside the current route of `blocks`."""
    header, title = part("header"), part("title")
    with gr.Row(elem_id="desk", equal_height=False):
        with gr.Column(scale=5, elem_id="left"):
            left = _left()
        with gr.Column(scale=7, elem_id="right"):
            right = _right(handlers.service.devices)
    part("bottom", value="{}")
    hidden = _hidden()
    _connect_opening(blocks, handlers, header=header, title=title, left=left, right=right, hidden=hidden)
    _connect_running(handlers, title=title, left=left, right=right, hidden=hidden)


def _left() -> Left:
    with gr.Tabs():
        with gr.Tab("Statement"):
            part("statement", value="{}")
        with gr.Tab("Hints"):
            part("hints", value="{}")
        with gr.Tab("My attempts", elem_id="attempts-tab"):
            attempts = part("attempts", events=["select"])
        with gr.Tab("Leaderboard"):
            board = part("board")
    return Left(attempts, board)


def _right(devices: tuple[str, ...]) -> Right:
    editor = part("editor", value=pack({"file": "attention.py"}))
    with gr.Row(elem_id="buttons"):
        run = gr.Button("Run checks", variant="primary", elem_id="run")
        tryout = gr.Button("Try", elem_id="try-run")
        cancel = gr.Button("Cancel", variant="stop", elem_id="cancel")
        reset = gr.Button("Reset to starter", elem_id="reset")
        load = gr.Button("Load a .py file", elem_id="load")
    tryout.click(None, js="() => { window.gym.tryOut(); }", api_visibility="private")
    reset.click(None, js="() => { window.gym.reset(); }", api_visibility="private")
    load.click(None, js="() => { window.gym.pick(); }", api_visibility="private")
    device = _choice(devices) if len(devices) > 1 else None
    part("try", value="{}")
    with gr.Column(elem_id="result"):
        panel = part("panel", events=["input"], value=pack(idle_view()))
        report = part("report")
    return Right(editor, run, cancel, panel, report, device)


def _choice(devices: tuple[str, ...]) -> gr.Radio:
    """Return the choice of where to run; the exercise decides whether it is shown."""
    choices = [(DEVICES.get(device, device), device) for device in devices]
    return gr.Radio(choices, value=devices[0], label="Where to run", info=WEAKER, elem_id="device", visible=False)


def _hidden() -> Hidden:
    with gr.Group(elem_classes="gym-quiet"):
        exercise = gr.Textbox(elem_id="exercise", label="exercise", container=False)
        submission = gr.Textbox(elem_id="submission", label="submission", container=False)
        paper = part("paper")
    return Hidden(exercise, submission, paper)


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
    send, fields, js = handlers.submit, [hidden.exercise, right.editor], SOURCE
    if right.device:
        send, fields, js = handlers.submit_to, [*fields, right.device], SOURCE_FOR
    submitted = on(right.run.click, send, fields, [hidden.submission, right.panel], name="submit", js=js)
    submitted.success(None, hidden.submission, None, js=FOLLOW, api_visibility="private")
    submitted.failure(None, None, None, js=NOT_SENT, api_visibility="private")
    moving = [right.panel, right.report, title, left.attempts, left.board]
    right.panel.input(None, None, moving, js=NEWS, trigger_mode="multiple", api_visibility="private")
    on(right.cancel.click, handlers.cancel, hidden.submission, None, name="cancel")
