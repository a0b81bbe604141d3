"""Statements are built alike: a student finds each thing at its place, and reads nothing twice."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from grader.exercise.catalog import Catalog

CATALOG = Catalog.load()
EVERY_EXERCISE = pytest.mark.parametrize("id", CATALOG)
SECTIONS = ["Why", "What to build", "What you write", "A small example", "What is checked", "Rules", "To think about"]
EXPERIMENT = "Try this"  # behind the small example, where there is one
MATHEMATICS = re.compile(r"\$\$.*?\$\$|\$.*?\$|`.*?`", re.DOTALL)
ENDING = re.compile(r"(?:ies|ing|ed|es|s)$")
PLAIN = re.compile(
    r"about|all|and|any|are|before|between|both|but|can|did|does|down|each|every|few|for|from|had|has|"
    r"have|here|how|into|its|like|long|longer|many|may|more|most|must|need|needs|nor|not|nothing|once|one|"
    r"only|other|others|out|over|own|same|several|some|such|than|that|the|their|them|then|there|these|"
    r"they|this|those|was|were|what|when|where|which|while|who|will|with|would"
)  # words that say little
AGAIN = 1 / 3  # of the words of a reason, so many may be said again in the task


def sections_of(statement: str) -> dict[str, str]:
    """Return the texts of a statement by their titles, in their order."""
    _, *parts = re.split(r"^## (.*)\n", statement, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def words(text: str) -> set[str]:
    """Return the words of a text that say something, without their endings."""
    found = re.findall(r"[a-z]{3,}", MATHEMATICS.sub(" ", text).lower())
    return {ENDING.sub("", word) for word in found if not PLAIN.fullmatch(word)}


def said_again(why: str, task: str) -> float:
    """Return the share of the words of a reason that the first paragraph of the task has too."""
    first, _, _ = task.strip().partition("\n\n")
    return len(words(why) & words(first)) / len(words(why))


@EVERY_EXERCISE
def test_a_statement_has_all_sections_in_their_order(id: str) -> None:
    """The same seven everywhere, and an experiment in some."""
    sections = sections_of(CATALOG[id].statement)

    assert [title for title in sections if title != EXPERIMENT] == SECTIONS
    assert all(text.strip() for text in sections.values())


@EVERY_EXERCISE
def test_the_rules_say_what_the_specification_forbids(id: str) -> None:
    """Ready-made attention, dropout or softmax is named where it is not allowed, and only there."""
    rules = " ".join(sections_of(CATALOG[id].statement)["Rules"].split())
    forbidden = CATALOG[id].spec.forbidden

    assert ("attention" in rules) == ("attention" in forbidden)
    assert ("not allowed" in rules or "except" in rules) == bool(forbidden)
    assert ("`F.dropout`" in rules) == ("dropout" in forbidden)
    assert ("`F.softmax`" in rules) == ("softmax" in forbidden)


@EVERY_EXERCISE
def test_a_reason_is_not_the_task_once_more(id: str) -> None:
    """*Why* says what the exercise is good for, *What to build* what to do: they share few words."""
    sections = sections_of(CATALOG[id].statement)

    assert said_again(sections["Why"], sections["What to build"]) <= AGAIN


@EVERY_EXERCISE
def test_what_is_asked_is_answered(id: str) -> None:
    """Each question to think about has an answer that opens on a click, and so has each experiment."""
    sections = sections_of(CATALOG[id].statement)
    asked = re.sub(r"<details>.*?</details>", "ANSWER", sections["To think about"], flags=re.DOTALL)
    paragraphs = [part for part in asked.split("\n\n") if part.strip() and not part.startswith("*Source")]

    assert "?" not in paragraphs[-1]
    assert [
        question for question, answer in pairwise(paragraphs) if "?" in question[-1:] and "ANSWER" not in answer
    ] == []
    if EXPERIMENT in sections:
        assert "<details><summary>Answer</summary>" in sections[EXPERIMENT]
