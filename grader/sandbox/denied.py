"""Stands in for the few functions that ask the system for what a child is denied, and whose values no answer needs.

A file that seeds everything, measures itself or finds its own folder at its top is then graded like any other.
"""

from __future__ import annotations

import os

import torch

from grader.sandbox.no_compiler import OFF

FOLDER = "/"  # where a child is; nothing in it can be opened


def replace_denied() -> None:
    """Put the stand-ins into their places, after all that imports the functions for which they stand."""
    torch.seed = torch.random.seed = _seed
    for place in (torch.profiler, torch.autograd.profiler):
        vars(place)["profile"] = OFF  # it wants counters of the processor
    os.getcwd = lambda: FOLDER


def _seed() -> int:
    """Seed from the generator itself, not from `/dev/urandom`: the same at every grading. Return the seed."""
    seed = int(torch.empty((), dtype=torch.int64).random_())
    torch.manual_seed(seed)
    return seed
