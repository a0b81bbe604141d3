"""What many tests share: the catalogue, and one warm box for submissions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from grader.box.run import Box
from grader.exercise.catalog import Catalog
from grader.sandbox.choice import choose_box

torch.set_num_threads(1)  # as the service and the desk do: the tensors are small


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """Every exercise."""
    return Catalog.load()


@pytest.fixture(scope="session")
def box() -> Iterator[Box]:
    """The safest box of this machine: the sandbox, or a plain subprocess where its walls are missing."""
    chosen = choose_box(allow_plain=True)
    yield chosen
    if (close := getattr(chosen, "close", None)) is not None:
        close()
