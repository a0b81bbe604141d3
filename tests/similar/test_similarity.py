"""Copies stand at the top of a class, two students of one lecture do not, and each file gets an answer."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from benchmarks.disguise import Disguise, disguise
from grader.exercise.catalog import ROOT, Catalog, read_exercise
from grader.judge.source import python_of
from grader.similarity import MOST_TOKENS, ClassWork, Comparison, Passage, common_texts, compare

ANSWER = """\
import torch

def weigh(x, dim=-1):
    top = x.amax(dim=dim, keepdim=True)
    powers = torch.exp(x - top)
    return powers / powers.sum(dim=dim, keepdim=True)

def spread(y, low):
    total = y.cumsum(dim=0) - low
    return total.clamp(min=0.5) * y.std()
"""
OTHERS = [  # no two of them share anything
    "assert x.flip(0).tril() + 3\n",
    "for row in x.mul_(2.5).relu_():\n    del row\n",
    "while x.unsqueeze(1) @ y.amin(dim=0):\n    break\n",
    "with scale ** x.argsort(descending=True):\n    pass\n",
]


def _works(*texts: str) -> list[ClassWork]:
    return [ClassWork(f"w{at}", f"p{at}", text) for at, text in enumerate(texts)]


def _strength(first: str, second: str) -> float:
    """Return how much two texts share in a class with others."""
    pairs = compare(_works(first, second, *OTHERS), ()).pairs
    return next((pair.strength for pair in pairs if (pair.left, pair.right) == ("w0", "w1")), 0.0)


def _top(comparison: Comparison) -> tuple[str, str]:
    return comparison.pairs[0].left, comparison.pairs[0].right


def _examples(id: str, *names: str) -> dict[str, str]:
    folder = ROOT / "exercises" / id / "examples"
    return {name: python_of((folder / f"{name}.py").read_text(encoding="utf-8")) for name in names}


# ---- copies


@pytest.mark.parametrize("how", [how for how in Disguise if how < Disguise.REWRITTEN])  # what is not promised
@pytest.mark.parametrize(
    ("id", "names"),
    [
        ("alibi", ("right_cumulative", "right_four_loops", "right_numpy", "right_where", "right_mask_added")),
        (
            "additive_attention",
            ("right_log_space", "right_papers_names", "right_word_by_word", "right_parameters_einsum"),
        ),
    ],
)
def test_a_copy_in_disguise_stands_above_all_independent_pairs(id: str, names: tuple[str, ...], how: Disguise) -> None:
    """Whichever of the answers is copied, the copy and its model are the first pair."""
    answers = _examples(id, *names)
    entry = Catalog.load()[id].spec.entry.name
    works = [ClassWork(name, name, text) for name, text in answers.items()]
    for name, text in answers.items():
        copy = ClassWork("copy", "somebody", disguise(text, how, (entry,)))

        assert set(_top(compare([*works, copy], ()))) == {"copy", name}


def test_two_students_of_one_lecture_stand_below_a_copy_once_the_textbook_is_ignored() -> None:
    """Both wrote the textbook down, each with a mistake of his own; while it counts, they are the first pair."""
    [(_, book)] = _examples("causal_attention", "right_raschka").items()
    lecture = [book.replace("diagonal=1", "diagonal=2"), f"{book}\nprint(CausalAttention)\n"]
    [(_, model)] = _examples("causal_attention", "right_lucidrains").items()
    copy = disguise(model, Disguise.SPLIT, ("CausalAttention",))
    works = [*_works(*lecture, *OTHERS), ClassWork("copy", "x", copy), ClassWork("model", "y", model)]

    assert _top(compare(works, ())) == ("w0", "w1")
    assert _top(compare(works, [book])) == ("copy", "model")


@pytest.mark.parametrize(
    "changed",
    [
        ANSWER.replace("top", "most").replace("powers", "e").replace("weigh", "f").replace("low", "x"),
        ANSWER.replace("def weigh(x, dim=-1)", "def weigh(x: torch.Tensor, dim: int = -1) -> dict[str, int]"),
        ANSWER.replace("def spread(y, low)", "def spread(y: torch.Tensor, low: dict[str, int])"),
        ANSWER.replace("top =", "top: torch.Tensor ="),
        ANSWER.replace("    top =", '    """Say what\n    it does."""\n    # why\n\n    top ='),
        ANSWER.replace("(dim=dim, keepdim=True)", "(\n        dim=dim,\n\n        keepdim=True,\n    )"),
        ANSWER.replace("powers / powers.sum(dim=dim, keepdim=True)", "(powers / (powers.sum(dim=dim, keepdim=True)))"),
        ANSWER.replace("import torch", "import torch as t\nfrom math import inf").replace("torch.", "t."),
        ANSWER.replace("\n", "\r\n"),
    ],
    ids=[
        "names",
        "annotations",
        "annotated to the end",
        "annotated name",
        "comments",
        "layout",
        "brackets",
        "imports",
        "ends of lines",
    ],
)
def test_what_costs_nothing_to_change_plays_no_part(changed: str) -> None:
    """The changed answer is as near to the answer as the answer itself."""
    assert changed != ANSWER
    assert _strength(ANSWER, changed) == _strength(ANSWER, ANSWER)


def test_what_stands_behind_an_annotation_counts() -> None:
    """The body of a function of one line is none of its last argument's annotation."""
    plain = "def f(v): return v.exp().sin()\n"

    assert _strength(plain, plain.replace("(v)", "(v: int)")) == _strength(plain, plain)


def test_functions_and_statements_in_another_order_share_the_same() -> None:
    """Only what stands within one statement counts."""
    head, first, second = ANSWER.split("\n\n")
    moved = "\n\n".join([head, second, first]).replace("    total", "    low = 1 - low\n    total")
    swapped = moved.replace("    low = 1 - low\n", "", 1)

    assert _strength(ANSWER, swapped) == _strength(ANSWER, ANSWER) > _strength(ANSWER, moved) > 0.6


def test_names_of_torch_and_constants_do_count() -> None:
    """Another operation or another number is another fragment."""
    same = _strength(ANSWER, ANSWER)
    function = "f = lambda v: v.exp()\n"

    assert _strength(function, function.replace("exp", "sin")) < _strength(function, function)
    assert _strength(ANSWER, ANSWER.replace("exp", "sigmoid")) < same
    assert _strength(ANSWER, ANSWER.replace("0.5", "0.7")) < same
    assert _strength(ANSWER, ANSWER.replace("keepdim", "kept")) < same


def test_own_attributes_may_have_other_names() -> None:
    """What a class calls its layers and methods is its author's choice, `self` too."""
    text = (
        "class A:\n    def __init__(self):\n        self.w = 3.5\n        self.register_buffer('near', 1)\n"
        "    def go(self, x):\n        return self.w * x - self.near\n"
    )
    other = text.replace("near", "close").replace(".w", ".weight").replace("go", "run")

    assert _strength(text, other) == _strength(text, text)
    assert _strength(text[:60], text[:60].replace("self", "this").replace(".w", ".v")) == _strength(
        text[:60], text[:60]
    )


# ---- what is ignored


def test_what_everybody_has_is_ignored() -> None:
    """A work that holds nothing but the starter has nothing of its own, and is named."""
    starter = "def f(x):\n    raise NotImplementedError('write it').with_traceback(x)\n"
    found = compare(_works(starter, starter.replace("x", "y"), ANSWER), [starter])

    assert found.pairs == ()
    assert found.without_own == ("w0", "w1")


def test_what_most_have_is_ignored_and_the_rest_of_them_still_compared() -> None:
    """Six of eight write the same function; two of them share another one."""
    own = "def g(x):\n    return x.roll(3).trace() - 7\n"
    works = _works(*([ANSWER] * 4), ANSWER + own, ANSWER + own, *OTHERS[:2])
    found = compare(works, ())

    assert [(pair.left, pair.right) for pair in found.pairs] == [("w4", "w5")]
    assert found.pairs[0].passages == (Passage((11, 12), (11, 12)),)
    assert found.without_own == ("w0", "w1", "w2", "w3")


@pytest.mark.parametrize("size", [2, 3])
def test_in_a_small_class_a_copy_is_found(size: int) -> None:
    """Two of three are more than half, and yet a copy."""
    assert _top(compare(_works(ANSWER, ANSWER, *OTHERS)[:size], ())) == ("w0", "w1")


def test_what_few_have_weighs_more() -> None:
    """Of two pairs that share a statement each, the one is first whose statement nobody else has."""
    often = "x = a.exp().exp2() - 1\n"
    rarely = "x = a.sin().cos() - 1\n"
    texts = [often + "y = a.tan()\n", often + "y = a.tanh()\n", rarely + "y = a.erf()\n", rarely + "y = a.erfc()\n"]
    texts += [often + f"z = a.b{number}.c{number}\n" for number in range(2)] + OTHERS

    assert _top(compare(_works(*texts), ())) == ("w2", "w3")


def test_to_share_all_of_nearly_nothing_is_less_than_most_of_much() -> None:
    """Two works with one short statement of their own stand below a copy with some lines added."""
    short = "u = 1 - v\n"
    works = _works(short, short, ANSWER, ANSWER + "q = 4\nr = q.w.e.r.t\n", *OTHERS)

    assert _top(compare(works, ())) == ("w2", "w3")


# ---- places in the class


def test_each_pair_has_its_place_among_all_pairs_of_the_class() -> None:
    """Five works make ten pairs; equal ones share a place, and those that share nothing count as weaker."""
    works = _works(ANSWER, ANSWER, OTHERS[0], OTHERS[0], OTHERS[3])
    first, second = compare(works, ()).pairs

    assert (first.left, first.right, first.stronger, first.weaker, first.pairs) == ("w0", "w1", 0, 9, 10)
    assert (second.left, second.right, second.stronger, second.weaker, second.pairs) == ("w2", "w3", 1, 8, 10)
    assert (first.percentile, second.percentile) == (90, 80)


def test_nobody_is_compared_with_himself() -> None:
    """Two works of one owner are no pair, and no pair of the class."""
    works = [replace(work, owner="ann") for work in _works(ANSWER, ANSWER)]
    [first, second] = compare([*works, ClassWork("z", "ben", ANSWER)], ()).pairs

    assert [(first.left, first.right), (second.left, second.right)] == [("w0", "z"), ("w1", "z")]
    assert first.pairs == 2


def test_works_of_earlier_terms_are_placed_among_the_pairs_of_the_class() -> None:
    """They are compared with the class and not with each other, and they count in no place."""
    works = _works(*OTHERS, ANSWER)
    earlier = [ClassWork(f"a{at}", f"q{at}", ANSWER, earlier=True) for at in range(2)]
    found = compare([*earlier, *works], ())

    assert [(pair.left, pair.right) for pair in found.pairs] == [("w4", "a0"), ("w4", "a1")]
    assert {(pair.stronger, pair.weaker, pair.pairs) for pair in found.pairs} == {(0, 10, 10)}


def test_the_order_of_works_changes_nothing() -> None:
    """Equal pairs stand in the order of their ids."""
    works = _works(ANSWER, OTHERS[1], ANSWER, OTHERS[2], ANSWER)
    found = compare(works, ())

    assert found == compare(works[::-1], ())
    assert [(pair.left, pair.right) for pair in found.pairs] == [*combinations(("w0", "w2", "w4"), 2)]


def test_another_process_finds_the_same() -> None:
    """Nothing depends on how Python hashes texts in this process."""
    program = (
        "from grader.similarity import compare; from tests.similar.test_similarity import ANSWER, OTHERS, _works\n"
        "print(compare(_works(ANSWER, *OTHERS, ANSWER + OTHERS[0]), ()))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert told == {f"{compare(_works(ANSWER, *OTHERS, ANSWER + OTHERS[0]), ())}\n"}


# ---- side by side


def test_passages_say_which_lines_are_which() -> None:
    """Functions that changed places are found where they stand now, without docstring and comments around them."""
    moved = (
        "# mine\nimport torch\n\ndef other(z, deep):\n"
        '    """Do it.\n\n    Well."""\n    s = z.cumsum(\n        dim=0\n    ) - deep\n    # so\n'
        "    return s.clamp(min=0.5) * z.std()\n\n"
        "def first(x, dim=-1):\n    m = x.amax(dim=dim, keepdim=True)\n\n    e = torch.exp(x - m)\n"
        "    return e / e.sum(dim=dim, keepdim=True)\n"
    )
    [pair] = compare(_works(ANSWER, moved, *OTHERS), ()).pairs

    assert pair.passages == (
        Passage((3, 6), (14, 18)),
        Passage((8, 8), (4, 4)),
        Passage((9, 10), (8, 12)),
    )


def test_equal_statements_stand_beside_each_other_in_their_order() -> None:
    """Three layers are the three layers there, one after the other."""
    layers = "".join(f"{name} = Linear(d, d, bias=True)\n" for name in "qkv")
    [pair] = compare(_works(layers, "\n" + layers.replace("d", "width"), *OTHERS), ()).pairs

    assert pair.passages == (Passage((1, 3), (2, 4)),)


def test_a_statement_stands_beside_the_one_with_which_it_shares_most() -> None:
    """Three others there have a part of it, and stand before it."""
    whole, part = "x = a.sin().cos().tan()\n", "-a.sin().cos().tan()\n"
    [pair] = compare(_works(whole, part * 3 + whole, *OTHERS), ()).pairs

    assert pair.passages == (Passage((1, 1), (4, 4)),)


def test_a_statement_that_shares_little_is_not_marked() -> None:
    """A few signs that happen to be the same are no passage."""
    mine = "q[2] = a.exp().sin() - 1.5 + b.cos().tan()[3:]\n"
    other = "-a.exp().sin() / 7 @ c.floor().ceil() ** d.sign()\n"
    same = "y = b.flip(0).roll(1) * c.sqrt()\n"
    pairs = compare(_works(mine + same, other + same, *OTHERS), ()).pairs

    assert pairs[0].passages == (Passage((2, 2), (2, 2)),)


def test_a_statement_in_parts_is_found_in_the_whole() -> None:
    """Both halves of what was one statement are marked beside it."""
    whole = "def f(x):\n    return x.cumsum(dim=0).clamp(min=0.25).std()\n"
    parts = "def f(x):\n    a = x.cumsum(dim=0)\n    b = a.clamp(min=0.25)\n    return b.std()\n"
    pairs = compare(_works(parts, whole, *OTHERS), ()).pairs

    assert pairs[0].passages == (Passage((1, 2), (1, 2)), Passage((3, 3), (2, 2)), Passage((4, 4), (2, 2)))


# ---- bad input


def test_three_hundred_files_that_are_all_the_same_share_what_most_have() -> None:
    """44,850 pairs say nothing about any two; the answer names those of which nothing is left."""
    found = compare([ClassWork(f"{number:03}", str(number), ANSWER) for number in range(300)], ())

    assert found.pairs == ()
    assert len(found.without_own) == 300


def test_many_files_that_are_the_same_make_a_bounded_answer() -> None:
    """A hundred of three hundred are one text: 4,950 pairs with the same place, of which `most` are returned."""
    works = [ClassWork(f"{number:03}", str(number), ANSWER if number < 100 else "") for number in range(300)]
    found = compare(works, (), most=7)

    assert [(pair.left, pair.right) for pair in found.pairs] == [("000", f"{number:03}") for number in range(1, 8)]
    assert {(pair.stronger, pair.weaker, pair.pairs) for pair in found.pairs} == {(0, 44_850 - 4950, 44_850)}


@pytest.mark.parametrize(
    "text",
    [
        *("", "x" * (256 << 10), "x " * (128 << 10), "x.y\n" * (64 << 10), "." * (256 << 10), "'" * (256 << 10)),
        *(
            "\0" * 1000,
            "(" * 100_000,
            "x = " + "[" * 1000 + "]" * 1000,
            "def f(:\n  y = '''",
            "def",
            "self.",
            "\ud800 = 1",
        ),
        *("if x:\n" + "  " * 500 + "if y:\n", "def f(x: (((\n" * 1000, "\f\x1c\u2028x = 1\u2028", "lambda: 0", "@a\n"),
    ],
    ids=range(18),
)
def test_whatever_a_file_holds_the_others_are_compared(text: str) -> None:
    """One token of 256 KiB, NUL, what does not parse, what is nested deeply: the copy beside it is found."""
    found = compare(
        [*_works(ANSWER, ANSWER, *OTHERS), ClassWork("odd", "o", text), ClassWork("odd too", "p", text)], ()
    )

    assert ("w0", "w1") in [(pair.left, pair.right) for pair in found.pairs]


def test_a_copy_is_found_that_does_not_parse() -> None:
    """A bracket is missing in one, and a NUL stands in the other."""
    assert _top(compare(_works(ANSWER + "def f(:\n", "\0" + ANSWER, *OTHERS), ())) == ("w0", "w1")


def test_what_stands_far_behind_is_not_compared() -> None:
    """The first 20,000 tokens are."""
    filler = "a = 1\n" * (MOST_TOKENS // 3)

    assert _strength("b = 2\n" + ANSWER + filler, ANSWER) > 0
    assert compare(_works(filler + ANSWER, ANSWER), ()).pairs == ()


def test_no_work_and_one_work_make_no_pair() -> None:
    """There is nothing to compare."""
    assert compare([], ()) == compare(_works(ANSWER), ()) == Comparison((), ())


# ---- what everybody may have


def test_common_texts_are_what_an_exercise_gives_and_its_right_answers() -> None:
    """Starter, code of the statement, reference and right examples, notebooks as Python; no wrong example."""
    exercise = Catalog.load()["attention_dropout"]
    texts = common_texts(exercise)
    wrong = _examples("attention_dropout", "wrong_multiplied", "wrong_seeded")

    assert texts[0] == exercise.starter
    assert texts[1].startswith("import torch\nfrom torch import nn\n\ntorch.manual_seed(123)\n")
    assert texts[1].endswith('print(*row.int().tolist(), f"{row.mean():.2f}")')
    assert exercise.reference_path.read_text(encoding="utf-8") in texts
    assert _examples("attention_dropout", "right_plain")["right_plain"] in texts
    assert not set(wrong.values()) & set(texts)


def test_an_installation_without_examples_has_the_other_texts(tmp_path: Path) -> None:
    """A wheel has none."""
    folder = tmp_path / "exercises" / "softmax"
    shutil.copytree(ROOT / "exercises" / "softmax", folder, ignore=shutil.ignore_patterns("examples"))
    shutil.copytree(ROOT / "reference", tmp_path / "reference")

    assert len(common_texts(read_exercise(folder, tmp_path))) == 2
