"""Try: an answer on one example, with numbers that somebody typed, beside what was expected."""

from __future__ import annotations

import json

import pytest

from grader.box.inline import InlineBox
from grader.errors import Rejected
from grader.exercise.catalog import STILL_THE_STARTER, Catalog
from grader.judge.tryout import MOST_CELLS, Tryout, examples, try_out

CATALOG = Catalog.load()
WITHOUT = {"attention_patterns"}  # what is given there is a model of ours


def tried(exercise: str, source: str, **how: object) -> Tryout:
    """Return what comes of a source in this process."""
    return try_out(CATALOG[exercise], source, InlineBox(), **how)  # type: ignore[arg-type]


def reference(exercise: str) -> str:
    """Return the source of a reference."""
    return CATALOG[exercise].reference_path.read_text(encoding="utf-8")


@pytest.mark.parametrize("exercise", sorted(set(CATALOG) - WITHOUT))
def test_a_right_answer_is_as_expected_on_every_example(exercise: str) -> None:
    """Whatever the report compares in a case that can be tried holds here too, also with other numbers."""
    names = [case.name for case in examples(CATALOG[exercise])]
    found = [tried(exercise, reference(exercise), example=name, seed=seed) for name in names for seed in (1, 2)]

    assert [(one.example, one.message) for one in found if not one.right] == []
    assert all(one.outputs and one.outputs[0].yours == one.outputs[0].expected for one in found)


@pytest.mark.parametrize("exercise", sorted(set(CATALOG) - WITHOUT))
def test_the_starter_is_called_the_starter(exercise: str) -> None:
    """Also with other blanks; what it is given and what is expected are shown, and no line is blamed."""
    found = [tried(exercise, text) for text in (CATALOG[exercise].starter, f"\n{CATALOG[exercise].starter}  \n\n")]

    assert [(one.message, one.right, one.line) for one in found] == [(STILL_THE_STARTER, None, None)] * 2
    assert all(one.arguments and one.outputs and one.outputs[0].expected for one in found)
    assert tried(exercise, f"{CATALOG[exercise].starter}\nx = 1\n").message != STILL_THE_STARTER


def test_nearly_every_exercise_has_examples() -> None:
    """Only those without are told that there are none."""
    assert {name for name in CATALOG if not examples(CATALOG[name])} == WITHOUT
    with pytest.raises(Rejected, match="no small example"):
        tried("attention_patterns", "x = 1")


def test_a_wrong_answer_is_told_and_its_wrong_numbers_are_marked() -> None:
    """Of a mask that starts one position too late, the last row of each sequence is right."""
    source = (CATALOG["causal_attention"].folder / "examples" / "wrong_diagonal_two.py").read_text(encoding="utf-8")
    found = tried("causal_attention", source)
    (output,) = found.outputs

    assert found.right is False
    assert "numbers differ" in found.message
    assert output.yours is not None
    assert output.expected is not None
    assert output.yours.shape == (2, 5, 4)
    rows = {place // 4 for place in output.yours.wrong}
    assert rows == {0, 1, 2, 3, 5, 6, 7, 8}
    assert all(output.yours.cells[place] != output.expected.cells[place] for place in output.yours.wrong)


def test_typed_numbers_are_used_and_sizes_follow_from_them() -> None:
    """One sequence of two tokens in place of two of five."""
    found = tried("causal_attention", reference("causal_attention"), typed={"x": "[[[1, 2, 3], [4, 5, 6.5]]]"})

    assert found.right is True
    assert found.arguments[0].cells == ("1", "2", "3", "4", "5", "6.5")
    assert found.outputs[0].expected is not None
    assert found.outputs[0].expected.shape == (1, 2, 4)


def test_typed_scalars_change_what_is_expected() -> None:
    """With a learning rate over 1, gradient descent on a parabola moves away from its minimum."""
    found = tried("gradient_descent", reference("gradient_descent"), typed={"learning_rate": "1.1", "num_steps": "4"})
    assert found.right is True
    assert found.outputs[0].expected is not None
    steps = [abs(float(cell) - 3) for cell in found.outputs[0].expected.cells]

    assert len(steps) == 5
    assert steps == sorted(steps)
    assert steps[0] < steps[-1]


def test_a_typed_sentence_has_as_many_words_as_it_has() -> None:
    """No size of the exercise says how many words there are; the reference does."""
    found = tried("sentence_embedding", reference("sentence_embedding"), typed={"sentence": "Life is short"})

    assert found.right is True
    assert found.outputs[0].expected is not None
    assert found.outputs[0].expected.shape == (3, 3)


@pytest.mark.parametrize(
    ("exercise", "typed", "why"),
    [
        ("causal_attention", {"x": "[[1, 2, 3]]"}, "`x` needs 3 axes; what you typed has 2 axes"),
        ("causal_attention", {"y": "[[1]]"}, "cannot be typed"),
        ("causal_attention", {"x": "[[" + ", ".join(["[1]"] * 33) + "]]"}, "`time` must be between 1 and 32"),
        ("scaled_dot_product_attention", {"mask": "1"}, "cannot be typed"),
        ("scaled_dot_product_attention", {"query": "[[[1, 2]]]", "key": "[[[1, 2, 3]]]"}, "it must be the same"),
        ("padding_mask", {"seq": "[[1, 2]]"}, "needs the sizes that it has"),
        ("causal_mask", {"seq_len": "1000"}, "at most 64"),
        ("gradient_descent", {"x0": "far"}, "must be a number"),
    ],
)
def test_what_cannot_be_tried_is_refused_with_the_reason(exercise: str, typed: dict[str, str], why: str) -> None:
    """Nothing runs; the sentence names the argument."""
    with pytest.raises(Rejected, match=why):
        tried(exercise, reference(exercise), typed=typed)


def test_tokens_stay_in_the_vocabulary() -> None:
    """A number that is no token would be an error of the reference, and not of the answer."""
    typed = {"src": "[[0, 99]]"}
    with pytest.raises(Rejected, match="takes whole numbers from 0 to"):
        tried("attention_seq2seq", reference("attention_seq2seq"), typed=typed)


def test_inputs_that_make_the_reference_raise_are_no_fault_of_the_answer() -> None:
    """More tokens than `context_length`: nothing can be compared, and that is what is said."""
    rows = ", ".join(["[1, 2, 3, 4, 5, 6, 7, 8]"] * 9)
    found = tried("learned_encoding", reference("learned_encoding"), typed={"x": f"[[{rows}]]"}, example="all_equal")

    assert found.right is None
    assert "make the reference raise too" in found.message


def test_an_error_is_told_with_its_line_and_what_was_printed() -> None:
    """What was printed before it is there as well."""
    source = 'import torch\n\n\ndef softmax(x, dim=-1):\n    print("seen", x.shape)\n    return x @ nothing\n'
    found = tried("softmax", source)

    assert found.right is False
    assert found.message.startswith("NameError: name 'nothing' is not defined")
    assert found.line == 6


def test_another_shape_is_told_beside_the_expected_numbers() -> None:
    """Nothing of the answer can be laid beside them."""
    found = tried("softmax", "def softmax(x, dim=-1):\n    return x.sum()\n")

    assert found.right is False
    assert "must be a tensor of shape" in found.message
    assert found.outputs[0].yours is None
    assert found.outputs[0].expected is not None


def test_it_travels_as_json_of_bounded_size() -> None:
    """Also infinities and NaN, which JSON has no numbers for; the largest example is cut."""
    body = tried("causal_mask", reference("causal_mask")).to_json()
    assert '"-inf"' in body
    assert "Infinity" not in body

    sizes = [
        len(one["cells"])
        for name in CATALOG
        for case in examples(CATALOG[name])
        for one in json.loads(tried(name, reference(name), example=case.name).to_json())["arguments"]
    ]
    assert max(sizes) == MOST_CELLS
