"""The gradebook and its export."""

from grader.pages.gradebook import Row, csv_of, mean


def test_exported_names_are_never_formulas():
    """A name that a spreadsheet would run gets an apostrophe."""
    rows = [Row("=HYPERLINK(1)", (50.0,), 2), Row("@x", (None,), 1), Row("Ada", (100.0,), 1)]

    lines = csv_of(["softmax"], rows).splitlines()

    assert lines == ["student,softmax,mean,attempts", "'=HYPERLINK(1),50.0,50.0,2", "'@x,,0.0,1", "Ada,100.0,100.0,1"]


def test_the_mean_counts_what_was_not_tried_as_zero():
    """One exercise solved of four is a quarter."""
    assert mean(Row("Ada", (100.0, None, None, None), 1)) == 25.0
