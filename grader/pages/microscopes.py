"""The place of a statement's microscope in its HTML: the numbers for the script, and room for what it draws."""

from __future__ import annotations

from html import escape

from grader.errors import AuthorError
from grader.exercise.microscope import Microscope, microscope
from grader.pages.wording import View, pack

_LATER = "Here the example can be stepped through, with other numbers too. That needs scripts."


def drawn(text: str) -> str | None:
    """Return the HTML of a block; None where its text is none, which `exercise check` tells the author."""
    try:
        read = microscope(text)
    except AuthorError:
        return None
    view = escape(pack(scope_view(read)), quote=True)
    return f'<div class="gym-scope" style="--rows: {_rows(read)}" data-scope="{view}"><p>{_LATER}</p></div>\n'


def scope_view(read: Microscope) -> View:
    """Return what the script starts from; every matrix as a list with one for each head."""
    mask = read.rows_of_mask
    return {
        **read.heads,
        "d_k": read.d_k,
        "mask": mask,
        "mask_on": mask is not None and read.mask_on,
        "show": read.show,
    }


def _rows(read: Microscope) -> int:
    """Return how many rows the larger of the two tables has: one query step by step, or all queries in one step."""
    steps = 2 + (read.d_k is not None) + (read.mask is not None) + 2 * (read.value is not None)
    return 1 + max(steps, read.queries)
