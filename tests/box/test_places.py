"""What a child sends says nothing of where the grader lies on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from grader.box.places import without_places

_ROOT = str(Path(__file__).parents[2])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"{torch.__file__}:12: UserWarning: odd", "…/torch/__init__.py:12: UserWarning: odd"),
        (f'  File "{_ROOT}/grader/box/observe.py", line 3, in see', '  File "…/grader/box/observe.py", line 3, in see'),
        (f"['{_ROOT}', '{sys.prefix}']", "['…', '…']"),
        (f"it lies in {_ROOT}.", "it lies in …."),
    ],
)
def test_a_folder_of_the_grader_is_taken_out(text: str, shown: str) -> None:
    """Of a path the part below it stays, by which a file of torch's can be found in its documentation."""
    assert without_places(text) == shown


@pytest.mark.parametrize("text", ["", "a/b", f"{_ROOT}s/x", f"x{_ROOT}", "/usr/share/dict", "C:\\a"])
def test_other_text_stays_as_it_is(text: str) -> None:
    """A longer name, or another folder, is none of them."""
    assert without_places(text) == text
