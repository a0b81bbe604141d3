"""Run a formula on the instructor's machine: a name that a spreadsheet takes for one, in the export.

Expected: text in every column, whatever the separator of the reader's country
Stopped by: export quoting, names that begin with a letter
"""

import csv
import re

import pytest

from grader.errors import NotAllowed
from grader.pages.gradebook import Row, csv_of
from grader.service.names import tidy
from grader.store.records import UserId

FORMULAS = ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201", "\u00a0=1"]
INNER = ["a;=1+1", 'a"\n=1', "a,=1", "a\t=1"]


def control(world):
    plain = ",".join(["=HYPERLINK(1)", "50"])
    assert plain.startswith("=")  # what a careless export would hold


def attack(world):
    rows = [Row(UserId(7), name, (1.0, None), 1) for name in FORMULAS + INNER]
    text = csv_of(["softmax", "causal_mask"], rows)
    cells = [row for row in csv.reader(text.splitlines(keepends=True))]
    for name, (_, first, *numbers) in zip(FORMULAS, cells[1:], strict=False):
        assert first == "'" + re.sub("[\t\r\n]", " ", name)
        assert all(number == "" or float(number) >= 0 for number in numbers)
    inner = [row[1] for row in cells[1 + len(FORMULAS) :]]  # each in one cell of its own
    assert inner == ["a;'=1+1", 'a" =1', "a,'=1", "a =1"]
    for name in FORMULAS:
        with pytest.raises(NotAllowed):
            tidy(name + "ab")
    world.person("Sam a;=1+1")
    answer = world.client(world.prof).get("/teach/export.csv")
    assert '"Sam a;\'=1+1"' in answer.text
    assert answer.headers["content-disposition"].startswith("attachment")
