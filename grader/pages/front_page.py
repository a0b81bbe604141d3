"""The front page as it stands before any script has run: what this is about, and every exercise as a link.

The introduction is for somebody who has done nothing yet. `gym.parts.exercises` takes it over, or leaves it out.
"""

from __future__ import annotations

from html import escape

from grader.exercise.catalog import Catalog, Exercise
from grader.pages import catalogue
from grader.pages.wording import count

SIZE = 7  # rows and columns of the picture
PICTURE = "A map of attention weights; one cell to the right of the diagonal is marked as wrong in each row."


def introduction(catalog: Catalog, *, hidden: bool) -> str:
    """Return what this is, for somebody who has done nothing yet: a wrong answer as its report shows it."""
    first, shown = next(iter(catalog)), " hidden" if hidden else ""
    return f"""<section class="gym-hero" id="gym-hero"{shown}><div><h1>Understand attention by writing it</h1>
<p>{len(catalog)} short exercises in PyTorch, from softmax to multi-head attention, positions and FlashAttention.
Write a few lines, press a button, and see within a second what your code does.</p>
<p>If something is wrong, you are told which mistake it is, which line it is in, and which weights show it.</p>
<div class="gym-hero-begin"><a href="{catalogue.address(first)}" class="gym-button gym-strong">Start with \
{escape(catalogue.numbered(catalog, first))}</a><span class="gym-sub">No account is needed.</span></div></div>
<figure class="gym-card-box"><figcaption><p class="gym-cause-kind">What went wrong</p>
<h2>Your mask starts one position too late.</h2>
<p class="gym-sub">Your results become wrong at line 17.</p></figcaption>
{_picture()}</figure></section>"""


def _picture() -> str:
    cells = "".join(_cell(row, column) for row in range(SIZE) for column in range(SIZE))
    return f'<div class="gym-hero-map" role="img" aria-label="{PICTURE}">{cells}</div>'


def _cell(row: int, column: int) -> str:
    if column > row + 1:
        return '<i class="gym-empty-cell"></i>'
    weight = min(1.0, (1 + (row * 5 + column * 3) % 4) / (row + 3))
    wrong = ' class="gym-wrong"' if column > row else ""
    return f'<i{wrong} style="--weight:{weight:.2f}"></i>'


def shelves(catalog: Catalog) -> str:
    """Return every exercise under its track; where the screen is small only the first track is open."""
    tracks = catalogue.tracks(catalog)
    return "".join(_track(catalog, *track, is_open=place == 0) for place, track in enumerate(tracks))


def _track(catalog: Catalog, name: str, members: list[Exercise], *, is_open: bool) -> str:
    cards = "".join(_card(catalog, exercise) for exercise in members)
    head = f'<h2>{escape(name)}</h2><span class="gym-count">{count(len(members), "exercise")}</span>'
    opened = " open" if is_open else ""
    return f'<details class="gym-track"{opened}><summary>{head}</summary><ul class="gym-cards">{cards}</ul></details>'


def _card(catalog: Catalog, exercise: Exercise) -> str:
    link = f'<a href="{catalogue.address(exercise.id)}" class="gym-card-link">'
    title, summary = escape(catalogue.numbered(catalog, exercise.id)), escape(exercise.spec.summary)
    facts = f"<small>{catalogue.length(exercise)}</small>"
    text = f'<div class="gym-card-text">{link}{title}</a><span>{summary}</span>{facts}</div>'
    return f'<li class="gym-card"><span class="gym-ring" aria-hidden="true"></span>{text}</li>'
