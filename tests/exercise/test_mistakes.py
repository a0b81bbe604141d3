"""Known mistakes: one step of the reference is replaced, and nothing else changes."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from grader.box.inline import InlineBox
from grader.errors import AuthorError
from grader.exercise.catalog import ROOT, Catalog
from grader.exercise.mistakes import Mistake, apply, borrow, collect, mistake
from grader.exercise.spec import Dimension
from grader.judge.grade import grade

_EXERCISES = sorted(path.parent.name for path in (ROOT / "exercises").glob("*/exercise.toml"))
_REFERENCE = compile(
    """
def double(x):
    return 2 * x

class Adder:
    def one(self):
        return 1

    def run(self, x):
        return double(x) + self.one()
""",
    "reference.py",
    "exec",
)


_TOLD_BY_SHAPE = {
    "a query and key product": (
        "padding_mask",
        "return mask[:, None, None, :]",
        "return mask[:, None, None, :] & mask[:, None, :, None]",
        "a row for every query",
    ),
    "a head picked": (
        "multi_head_attention",
        "return output, weights",
        "return output, weights[:, 0]",
        "have no head axis",
    ),
    "a head picked as well": (
        "relative_position",
        "return output, weights",
        "return output, weights[:, 0]",
        "have no head axis",
    ),
    "the last sentence": ("attention_patterns", "return output[1]", "return output[1][-1]", "have no batch axis"),
    "a picked context": (
        "multi_head_wrapper",
        "torch.cat(contexts, dim=-1)",
        "contexts[-1]",
        "only as wide as one head",
    ),
    "contexts in time": (
        "multi_head_wrapper_causal",
        "torch.cat(contexts, dim=-1)",
        "torch.cat(contexts, 1).reshape(*contexts[0].shape[:2], -1)",
        "holds several tokens of one head",
    ),
    "the last word": (
        "sentence_embedding",
        "return embedding(ids)",
        "return embedding(ids)[-1]",
        "one vector for the whole",
    ),
}


@pytest.mark.parametrize(("name", "right", "wrong", "words"), _TOLD_BY_SHAPE.values(), ids=_TOLD_BY_SHAPE)
def test_what_a_shape_tells_is_true_of_all_code_with_that_shape(
    name: str, right: str, wrong: str, words: str, catalog: Catalog
) -> None:
    """Numbers of another shape are not compared, so no operation is claimed that may not be there."""
    source = catalog[name].reference_path.read_text(encoding="utf-8")
    assert right in source

    told = grade(catalog[name], source.replace(right, wrong), seed=3, box=InlineBox()).diagnosis

    assert [words in one.title or words in one.message for one in told] == [True]


@mistake(replaces="double", dimension="numerics")
def triples(x: int) -> int:
    """You triple.

    The first
    paragraph.

    The second.
    """
    return 3 * x


@mistake(replaces="Adder.one", dimension="shapes")
def adds_ten(self: Any) -> int:
    """You add ten."""
    return 10


def _known(*steps: Any) -> tuple[Mistake, ...]:
    module = ModuleType("mistakes")
    vars(module).update({step.__name__: step for step in steps})
    return collect(module)


def _run(*wrong: Mistake) -> int:
    result = apply(_REFERENCE, wrong)["Adder"]().run(5)
    assert isinstance(result, int)
    return result


def test_a_mistake_replaces_its_step() -> None:
    """A function or a method, in a namespace of its own."""
    threefold, tenfold = _known(triples, adds_ten)

    assert (_run(), _run(threefold), _run(tenfold), _run()) == (11, 16, 20, 11)


def test_mistakes_compose() -> None:
    """Two that replace different steps both apply."""
    assert _run(*_known(triples, adds_ten)) == 25


def test_a_docstring_is_title_and_message() -> None:
    """The first line, then paragraphs without their line breaks."""
    (found,) = _known(triples)

    assert (found.name, found.title, found.dimension) == ("triples", "You triple.", Dimension.NUMERICS)
    assert found.message == "The first paragraph.\n\nThe second."


@pytest.mark.parametrize("step", ["no_such", "Adder.no_such", "NoClass.one"])
def test_a_step_that_is_not_there_is_an_authors_error(step: str) -> None:
    """The text names the mistake, the step, and what to do."""

    @mistake(replaces=step, dimension="numerics")
    def wrong() -> None:
        """Wrong."""

    with pytest.raises(AuthorError, match=f"mistake `wrong` replaces `{step}`"):
        apply(_REFERENCE, _known(wrong))


def test_a_dimension_that_does_not_exist_is_refused() -> None:
    """Those that there are, are named."""
    with pytest.raises(AuthorError, match="'speed'; it must be one of shapes, numerics, masking"):
        mistake(replaces="double", dimension="speed")(triples)


def test_a_borrowed_mistake_serves_another_step_and_dimension() -> None:
    """It says the same and does the same, in another place; the one that was borrowed stays where it is."""
    module = ModuleType("mistakes")
    module.adds_ten = adds_ten  # type: ignore[attr-defined]  # a module made here
    module.doubles_ten = borrow(adds_ten, replaces="Adder.two", dimension="numerics")  # type: ignore[attr-defined]
    own, borrowed = collect(module)

    assert (own.name, own.replaces, own.dimension) == ("adds_ten", "Adder.one", Dimension.SHAPES)
    assert (borrowed.name, borrowed.replaces, borrowed.dimension) == ("doubles_ten", "Adder.two", Dimension.NUMERICS)
    assert (borrowed.title, borrowed.message) == (own.title, own.message)
    assert borrowed.step is not own.step
    assert borrowed.step(None) == 10


def test_a_borrowed_mistake_applies_to_a_method() -> None:
    """What was written for one class stands in for the method of another, with its own `self`."""
    reference = compile("class Other:\n    amount = 4\n    def two(self): return 2", "reference.py", "exec")

    @mistake(replaces="Adder.one", dimension="numerics")
    def its_amount(self: Any) -> Any:
        """It takes its amount."""
        return self.amount

    (wrong,) = _known(borrow(its_amount, replaces="Other.two"))

    assert apply(reference, (wrong,))["Other"]().two() == 4


def test_only_a_mistake_can_be_borrowed() -> None:
    """A plain function has no title and no step; the text says which one was meant."""
    with pytest.raises(AuthorError, match="`_run` cannot be borrowed"):
        borrow(_run)


def test_a_mistake_has_the_name_that_its_module_gives_it() -> None:
    """One that is shared may be called otherwise here."""
    module = ModuleType("mistakes")
    module.another_name = triples  # type: ignore[attr-defined]  # a module made here

    assert [wrong.name for wrong in collect(module)] == ["another_name"]


@pytest.mark.parametrize("name", _EXERCISES)
def test_every_known_mistake_applies(name: str, catalog: Catalog) -> None:
    """Each names a step that the reference has, has a name of its own, and speaks to the student."""
    exercise = catalog[name]

    for wrong in exercise.mistakes:
        assert exercise.spec.entry.name in exercise.reference(wrong)()
        assert wrong.title
        assert wrong.message
    assert len({wrong.name for wrong in exercise.mistakes}) == len(exercise.mistakes)
