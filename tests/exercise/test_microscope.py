"""What an author may write into a statement's microscope."""

from __future__ import annotations

import pytest

from grader.errors import AuthorError
from grader.exercise.catalog import Catalog
from grader.exercise.microscope import blocks, microscope

PAIR = "query = [[1, 2], [3, 4]]\nkey = [[1, 0], [0, 1], [2, 2]]\n"

WRONG = {
    "no TOML": ("query = [[1]", "is no TOML"),
    "nothing to compute with": ("value = [[1]]", "give `query` and `key`, or else `scores`"),
    "both": (PAIR + "scores = [[1]]", "give `query` and `key`, or else `scores`"),
    "a field that there is not": (PAIR + "temperature = 2", "`temperature`"),
    "infinite": ("scores = [[-inf, 1]]", "`scores`"),
    "rows of different lengths": ("scores = [[1, 2], [3]]", "the rows of `scores` differ in length"),
    "different widths": ("query = [[1, 2]]\nkey = [[1]]", "`query` and `key` differ in width"),
    "a value too few": (PAIR + "value = [[1], [2]]", "`value` needs a row for each of the 3 keys"),
    "other heads": (PAIR + "value = [[[1], [2], [3]], [[1], [2], [3]]]", "the same number of heads"),
    "a mask too narrow": (PAIR + "mask = [[true, false]]", "`mask` needs 3 columns, and one row or 2"),
    "a query that sees nothing": (PAIR + "mask = [[0, 0, 0]]", "leaves a query without any key"),
    "a query that is not there": (PAIR + "show = 2", "`show` is 2, and there are 2 queries"),
    "too large for a phone": ("scores = [[1, 2, 3, 4, 5, 6, 7]]", "`scores`"),
}


@pytest.mark.parametrize(("text", "told"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_a_microscope_is_told_to_its_author(text: str, told: str) -> None:
    """The field and the remedy, in one line."""
    with pytest.raises(AuthorError) as raised:
        microscope(text)

    assert told in str(raised.value)
    assert "\n" not in str(raised.value) or told == "is no TOML"


def test_a_mask_has_a_row_for_each_query() -> None:
    """One row stands for all queries; `causal` is as wide as there are keys."""
    assert microscope(PAIR + "mask = [[1, 0, 1]]").rows_of_mask == ((True, False, True),) * 2
    assert microscope(PAIR + 'mask = "causal"').rows_of_mask == ((True, False, False), (True, True, False))
    assert microscope(PAIR).rows_of_mask is None


def test_a_matrix_is_one_head_and_a_list_of_them_several() -> None:
    """The script always gets a list."""
    one, two = microscope("scores = [[1, 2]]"), microscope("scores = [[[1, 2]], [[3, 4]]]")

    assert one.heads == {"scores": (((1.0, 2.0),),)}
    assert two.heads == {"scores": (((1.0, 2.0),), ((3.0, 4.0),))}


def test_most_statements_about_attention_have_a_microscope() -> None:
    """Each of them can be read; these five teach nothing else."""
    found = {
        exercise.id: [microscope(text) for text in blocks(exercise.statement)] for exercise in Catalog.load().values()
    }
    taught = {
        "softmax",
        "scaled_dot_product_attention",
        "padding_mask",
        "causal_attention",
        "multi_head_attention_causal",
    }

    assert taught <= {id for id, seen in found.items() if len(seen) == 1}
