"""The gradebook and its export."""

import csv

from grader.exercise.catalog import Catalog
from grader.pages.gradebook import Row, csv_of, gradebook_view, mean
from grader.store.roster import CommonMistake


def test_exported_names_are_never_formulas():
    """A name that a spreadsheet would run gets an apostrophe."""
    names = ["=HYPERLINK(1)", "@x", " =1", "\t=1", "\uff1d1", "\uff0b1", "a;=1", 'a"b', "Ada"]
    rows = [Row(names[0], (50.0,), 2), Row(names[1], (None,), 1), *(Row(name, (1.0,), 1) for name in names[2:])]

    lines = csv_of(["softmax"], rows).splitlines()

    assert lines[:3] == ['"student","softmax","mean","attempts"', '"\'=HYPERLINK(1)",50.0,50.0,2', '"\'@x","",0.0,1']
    assert [row[0] for row in csv.reader(lines[3:])] == ["' =1", "'\t=1", "'\uff1d1", "'\uff0b1", "a;=1", 'a"b', "Ada"]


def test_the_mean_counts_what_was_not_tried_as_zero():
    """One exercise solved of four is a quarter."""
    assert mean(Row("Ada", (100.0, None, None, None), 1)) == 25.0


def test_code_in_the_title_of_a_mistake_is_drawn_as_code():
    """The page is told that the column has backticks to be read."""
    catalog = Catalog.load()
    wrong = next(one for one in catalog["softmax"].mistakes if "`" in one.title)
    common = CommonMistake(exercise="softmax", mistake=wrong.name, title=wrong.title, students=2, times=3)
    table = gradebook_view(catalog, [], [common])["mistakes"]
    (kind,) = [column["kind"] for column in table["columns"] if column["name"] == "Mistake"]
    assert (kind, table["rows"][0]["cells"][1]) == ("rich", wrong.title)
