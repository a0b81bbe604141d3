"""The pieces that pages are laid out with: parts drawn by our own scripts, and the look of Gradio's."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import gradio as gr

from grader.errors import record
from grader.pages.plain import MET, STORE_FAULTS

LOG = logging.getLogger(__name__)
BROKEN = (
    "This does not work at the moment because of an error on our side. Please try again. "
    "Your instructor can look for incident {}."
)


def part(name: str, *, elem_id: str | None = None, events: Sequence[str] = (), value: str | None = None) -> gr.HTML:
    """Return a piece of the page that `gym.parts[name]` draws from the line of JSON it is sent.

    The template is empty on purpose: Gradio would run what is filled into one as JavaScript.

    Args:
        name: the drawing function.
        elem_id: the element's id; the name if left out.
        events: what the script may trigger.
        value: what to draw before anything was sent, from `wording.pack`.
    """
    # Gradio takes an event for declared if its name stands in the script, in quotes.
    declared = ", ".join(f"'{event}'" for event in events)
    script = f"gym.mount('{name}', element, props, trigger, watch); /* triggers: {declared} */"
    return gr.HTML(
        value=value, html_template="<div></div>", js_on_load=script, elem_id=elem_id or name, apply_default_css=False
    )


def kept(name: str) -> gr.HTML:
    """Return a text that the page keeps and never shows: what an event may give, and another may take."""
    return gr.HTML(html_template="<div></div>", js_on_load=None, elem_id=name, apply_default_css=False)


def on(event: Callable[..., Any], do: Callable[..., Any], given: Any, shown: Any, *, name: str, js: str = "") -> Any:
    """Let an event of the page call one of our functions, and return what may follow it.

    Past Gradio's queue: an answer comes with its request, and nothing of it is kept for a page that may never ask.

    Args:
        event: of a component, as in `button.click`.
        do: the function.
        given: the components whose values it takes, or None.
        shown: the components that it fills, or None.
        name: what it is called by in requests.
        js: what the browser makes of the values before it sends them.
    """
    return event(_told(do, name), given, shown, api_name=name, js=js or None, queue=False, show_progress="hidden")


def _told(do: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return `do` with its faults in our log; Gradio would print each to the error stream, past every bound."""

    @wraps(do)
    def answer(*given: Any) -> Any:
        try:
            return do(*given)
        except Exception as fault:
            cause = fault.__cause__ if isinstance(fault, gr.Error) else fault
            if isinstance(cause, STORE_FAULTS) and (met := MET.get()) is not None:
                met.append(cause)
            if isinstance(fault, gr.Error):
                raise
            incident = record(LOG, f"the event {name} broke", fault)
            raise gr.Error(BROKEN.format(incident), print_exception=False) from fault

    return answer


def theme() -> gr.themes.Base:
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
        button_primary_background_fill="#4f46e5",
        button_primary_background_fill_hover="#4338ca",
        button_primary_background_fill_dark="#4f46e5",
        button_primary_text_color="#ffffff",
        block_border_width="0px",
        block_padding="0px",
        layout_gap="12px",
    )
