"""The pages of the students' site that show a list: one row each, from which routes, navigation and layout follow.

The page of an exercise is laid out by itself, in `exercise`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

EXERCISE: Mapping[str, int] = {"ex": 100}  # the field of a query that names an exercise, and its longest value


@dataclass(frozen=True, slots=True)
class Page:
    """A page with a header and a body.

    Attributes:
        path: its address.
        title: its name in the navigation.
        event: the request that fills it, and the method of `student.ListHandlers` that answers.
        body: the function of `gym.parts` that draws the body.
        query: the fields of its address that are passed on, and how many characters each has at most.
    """

    path: str
    title: str
    event: str
    body: str
    query: Mapping[str, int] = field(default_factory=dict)


EXERCISES = Page("/", "Exercises", event="exercises", body="exercises")
LEADERBOARD = Page("/leaderboard", "Leaderboard", event="board", body="board", query=EXERCISE)
WORK = Page("/work", "My work", event="work", body="attempts")
COMPARE = Page(
    "/compare", "Compare two attempts", event="compare", body="comparison", query={"attempt": 100, "before": 100}
)
PAGES = (EXERCISES, LEADERBOARD, WORK)  # as the navigation has them; the first one is the front page
LISTS = (*PAGES, COMPARE)  # with those that other pages lead to
