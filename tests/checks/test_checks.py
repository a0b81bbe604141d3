"""The checks: each passes what is right, fails what is wrong, and says what was expected, what was seen, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import AuthorError
from grader.exercise.catalog import Exercise
from grader.judge.report import Verdict
from tests.checks.workshop import ATTEND, ATTEND_TOML, BLOCK, BLOCK_TOML, build, change, grade_here, line

Edit = tuple[str, str]

_SHAPE, _VALUES, _STEADY = "small: shape and dtype", "small: output values", "small: repeated calls"
_FINITE, _SUPPORT, _INFLUENCE = "small: finite everywhere", "small: masked weights are zero", "small: attention pattern"
_OUTSCORED = "loud: masked keys with the highest scores"
_FLOW, _GRADIENTS = "small: gradient flow", "small: gradient values"
_DROPOUT, _FREE, _REFUSAL = "training: dropout in training", "small: no parameters", "odd: rejects invalid arguments"


@pytest.fixture(scope="module")
def attend(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    """A function with a mask."""
    return build(tmp_path_factory.mktemp("attend"), ATTEND_TOML, ATTEND)


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    """A module with dropout."""
    return build(tmp_path_factory.mktemp("block"), BLOCK_TOML, BLOCK)


def test_a_right_answer_passes_every_check(attend: Exercise, block: Exercise) -> None:
    """Nothing is said about it."""
    for exercise, source in ((attend, ATTEND), (block, BLOCK)):
        report = grade_here(exercise, source)
        assert [(check.name, check.message) for check in report.checks if check.status is not Verdict.PASSED] == []
        assert report.score == 100
        assert report.accepted


_RETURN = "return output, weights"
_OUTPUT = "output = weights @ value"
_FILL = 'scores = scores.masked_fill(~mask, float("-inf"))'
_ATTEND: dict[str, tuple[str, Edit, str]] = {
    "a wrong shape": (
        _SHAPE,
        (_RETURN, "return output.mT, weights"),
        "`output` must be a tensor of shape (batch 2, queries 4, d_v 6); yours has shape (2, 6, 4)",
    ),
    "another dtype": (
        _SHAPE,
        (_RETURN, "return output.half(), weights"),
        "`output` must be float64, as the input is; yours is float16",
    ),
    "integers": (
        _SHAPE,
        (_RETURN, "return output.long(), weights"),
        "`output` must be float64, as the input is; yours is int64",
    ),
    "one result of two": (
        _SHAPE,
        (_RETURN, "return output"),
        "`weights` must be a tensor of shape (batch 2, queries 4, keys 5); you returned nothing in its place",
    ),
    "swapped results": (_SHAPE, (_RETURN, "return weights, output"), "yours has shape (2, 4, 5)"),
    "a dictionary": (_SHAPE, (_RETURN, "return {'output': output}"), "you returned a dict of 1"),
    "an exception": (_SHAPE, (_OUTPUT, "raise ValueError('no\\nway')"), "ValueError: no way (in your code, line 9)"),
    "nothing written": (
        _SHAPE,
        (_OUTPUT, "raise NotImplementedError"),
        "NotImplementedError (in your code, line 9); write your code here",
    ),
    "a wrong value": (
        _VALUES,
        (_OUTPUT, "output = weights @ value; output = output + (output == output.max()) * 1e-6"),
        "1 of 48 numbers differ",
    ),
    "a wrong factor": (
        _VALUES,
        (_RETURN, "return output * 2, weights"),
        "all your values are 2 times the expected ones",
    ),
    "a tiny epsilon": (_VALUES, (_RETURN, "return output / (1 + 1e-7), weights"), "`output` at (batch"),
    "NaN somewhere": (
        _VALUES,
        (_RETURN, "output[1, 2, 3] = float('nan'); return output, weights"),
        "`output` at (batch 1, queries 2, d_v 3): expected",
    ),
    "a state": (
        _STEADY,
        ("scores =", "attend.calls = getattr(attend, 'calls', 0) + 1\n    scores ="),
        "called a second time, with different inputs, your output is wrong: `output`",
    ),
    "infinity": (
        _FINITE,
        (_RETURN, "weights = weights / (weights > 0); return output, weights"),
        "`weights` is NaN or infinite at (batch 0, queries 0, keys 1)",
    ),
    "a soft mask": (
        _SUPPORT,
        ('float("-inf")', "-3.0"),
        "`weights` must be 0 at (batch 0, queries 0, keys 1), which is masked; yours is",
    ),
    "a hidden weight of a billionth of a billionth": (
        _SUPPORT,
        ('float("-inf")', "-50.0"),
        "`weights` must be 0 at (batch 0, queries 0, keys 1), which is masked; yours is",
    ),
    "a number added where it is hidden": (
        _OUTSCORED,
        (_FILL, "scores = scores + (~mask) * -10000.0"),
        "where a masked key has the highest score of its row, your output is wrong: `output` at (batch",
    ),
    "an argument that is overwritten": (
        _STEADY,
        ("scores = query @", "query *= 2\n    query = query / 2\n    scores = query @"),
        "your code must not change its arguments; it changes `query` in place",
    ),
    "a leak": (
        _INFLUENCE,
        (_FILL, "pass"),
        "changing `key` and `value` at keys 1 must not change `output` at queries 0; yours changes",
    ),
    "NaN in place of an output": (
        _INFLUENCE,
        (_RETURN, "return output + float('nan'), weights"),
        "`output` contains NaN, so its attention pattern cannot be checked: all of it is NaN: 0 / 0",
    ),
    "a blind row": (
        _INFLUENCE,
        (_FILL, _FILL.replace("~mask", "~(mask & (torch.arange(5) != 1))")),
        "changing `key` and `value` at keys 1 must change `output` at queries 1",
    ),
    "a cut graph": (
        _FLOW,
        (_OUTPUT, "output = weights.detach() @ value; weights = weights.detach()"),
        "no gradient reaches `query`: either your output does not depend on it, or the graph is cut on the way",
    ),
    "NaN in the gradient": (
        _FLOW,
        (_RETURN, "output = output + 0 * torch.sqrt(query[0, 0, 0] * 0); return output, weights"),
        "the gradient of `query` contains NaN or infinite numbers",
    ),
    "a gradient of zero": (
        _FLOW,
        (
            _OUTPUT,
            "weights = weights.data; output = weights @ value.detach() + 0 * (query.sum() + key.sum() + value.sum())",
        ),
        "the gradient of `query` is zero everywhere: either your output does not depend on it, or something on",
    ),
    "a backward pass that fails": (
        _FLOW,
        (_RETURN, "weights = weights.exp().log(); output = weights @ value; weights.mul_(1); return output, weights"),
        "modified by an inplace operation (in the backward pass); a tensor that the backward pass needs was "
        "overwritten. Look for operators such as `x /= y`",
    ),
    "a scaled gradient": (
        _GRADIENTS,
        (_OUTPUT, "value = value * 2 - value.detach(); output = weights @ value"),
        "`gradient of value` at",
    ),
}


@pytest.mark.parametrize("name", _ATTEND)
def test_a_wrong_answer_fails_the_check_that_is_about_it(name: str, attend: Exercise) -> None:
    """The message is the check's own."""
    check, edit, words = _ATTEND[name]
    source = change(ATTEND, edit)
    if name == "a state":
        source = change(source, ("return output,", "return output * (1 + (attend.calls > 2)),"))

    found = line(grade_here(attend, source), check)

    assert (found.status, found.earned) == (Verdict.FAILED, 0)
    assert words in found.message


_KEEP = "y = self.dropout(y)"
_BLOCK: dict[str, tuple[str, Edit, str]] = {
    "no refusal": (
        _REFUSAL,
        ("assert d_out % num_heads == 0", "pass"),
        "with d_in=4, d_out=6, num_heads=5, dropout=0.0 your constructor must raise an error; yours accepts this",
    ),
    "a further parameter": (
        _FREE,
        ("self.dropout =", "self.gain = nn.Parameter(torch.ones(2)); self.dropout ="),
        "your module must have no parameters here; `parameters()` lists gain (2,), even where it is frozen",
    ),
    "no dropout": (
        _DROPOUT,
        (_KEEP, "pass"),
        "with dropout 0.3, training mode must drop elements of your output; yours dropped none",
    ),
    "no rescaling": (
        _DROPOUT,
        (_KEEP, "y = self.dropout(y) * (0.7 if self.training else 1)"),
        "must be multiplied by 1/(1 - p) = 1.429; yours are multiplied by 1",
    ),
    "the wrong share": (
        _DROPOUT,
        (_KEEP, "y = y * (torch.rand_like(y) < 0.45) / 0.7 if self.training else y"),
        "about 30% of the elements of your output must be dropped; yours dropped",
    ),
    "p for 1 - p": (_DROPOUT, (_KEEP, "y = torch.dropout(y, 0.7, self.training)"), "yours are multiplied by 3.333"),
    "dropout too early": (
        _DROPOUT,
        ("y = self.W_query(x)\n        y = self.dropout(y)", "y = self.W_query(self.dropout(x))"),
        "cannot result from dropping some elements of your output",
    ),
    "everything dropped": (_DROPOUT, (_KEEP, "y = y * 0 if self.training else y"), "yours dropped 100%"),
    "NaN for dropped": (
        _DROPOUT,
        (_KEEP, "y = self.dropout(y) / (self.dropout(y) != 0) if self.training else y"),
        "in training mode",
    ),
    "whole columns": (
        _DROPOUT,
        (_KEEP, "y = y * self.dropout(torch.ones(1, y.shape[1], dtype=y.dtype))"),
        "elements that differ only along time are dropped together",
    ),
    "whole rows": (
        _DROPOUT,
        (_KEEP, "y = y * self.dropout(torch.ones(len(y), 1, dtype=y.dtype))"),
        "elements that differ only along d_out are dropped together",
    ),
    "the same elements": (
        _DROPOUT,
        (_KEEP, "torch.manual_seed(1); y = self.dropout(y)"),
        "two calls in training mode drop the same elements",
    ),
}


@pytest.mark.parametrize("name", _BLOCK)
def test_a_wrong_module_fails_the_check_that_is_about_it(name: str, block: Exercise) -> None:
    """Refusal, dropout, and parameters that should be none."""
    check, edit, words = _BLOCK[name]

    found = line(grade_here(block, change(BLOCK, edit)), check)

    assert (found.status, found.earned) == (Verdict.FAILED, 0)
    assert words in found.message


@pytest.mark.parametrize("seed", range(8))
def test_honest_dropout_passes_whatever_it_draws(seed: int, block: Exercise) -> None:
    """Another generator, other draws, the same verdict."""
    own = "y = y * torch.bernoulli(torch.full_like(y, 0.7)) / 0.7 if self.training else y"

    report = grade_here(block, change(BLOCK, ("y = self.dropout(y)", own), ("nn.Dropout(dropout)", "None")), seed)

    assert line(report, _DROPOUT).message == ""


def test_what_builds_on_a_failure_is_skipped_and_says_why(attend: Exercise) -> None:
    """A wrong shape does not fail twice."""
    report = grade_here(attend, change(ATTEND, (_RETURN, "return output.mT, weights")))

    found = line(report, _VALUES)
    assert (found.status, found.message) == (Verdict.SKIPPED, f"because “{_SHAPE}” did not pass")


def test_shapes_keep_their_points_where_values_are_wrong(attend: Exercise) -> None:
    """Each dimension is earned by itself."""
    report = grade_here(attend, change(ATTEND, (_RETURN, "return output * 2, weights")))

    assert line(report, _SHAPE).status is Verdict.PASSED
    assert 0 < report.score < 100


def test_float32_may_round_and_no_more(attend: Exercise) -> None:
    """In the float32 case, a rounding error passes and a real one does not."""
    noisy = change(ATTEND, (_RETURN, "return output * (1 + (1e-6 if output.dtype == torch.float32 else 0)), weights"))
    wrong = change(noisy, ("1e-6", "1e-3"))

    assert grade_here(attend, noisy).score == 100
    assert line(grade_here(attend, wrong), "single: output values").status is Verdict.FAILED


def test_a_float32_input_must_not_come_back_as_float64(attend: Exercise) -> None:
    """The output follows the input's dtype."""
    found = line(
        grade_here(attend, change(ATTEND, (_RETURN, "return output.double(), weights"))), "single: shape and dtype"
    )

    assert found.message == "`output` must be float32, as the input is; yours is float64"


def test_a_check_that_does_not_exist_is_the_authors_error(tmp_path: Path) -> None:
    """It is told together with those that do exist."""
    toml = change(ATTEND_TOML, ('check = "finite"', 'check = "fine"'))

    with pytest.raises(AuthorError, match="there is no check `fine`; there are accuracy, bleu, "):
        grade_here(build(tmp_path, toml, ATTEND), ATTEND)
