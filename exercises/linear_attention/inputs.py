"""Inputs for which an epsilon of up to 1e-6 in the denominator does not show, so that no bound has to allow for it.

The first five features of every query and key are large, between L and 2L, with the signs below; the others stay
standard normal, so that what happens around zero counts as well: a part of 1/L² of the weights, far above 1e-9.

    queries  +  +  +  -  -
    keys     +  +  -  +  -

Where both are positive, the product of their features elu(x) + 1 is at least L². There are two such features, so the
denominator, a sum over keys of products of features, is at least D = 2 L², in the first row of a causal case too, where
it is a sum over one key. `influence` replaces x by 1 - 2x; then queries, keys or both have the other signs, and some
feature, twice as large, is still positive in both.

With e added to the denominator, an output becomes output * (1 - e/D) at worst: a relative difference of e/D, which has
to stay below the 1e-9 that rounding is allowed.

- L = 30: D >= 1800, and e = 1e-6 makes 6e-10. An epsilon of 1e-4 makes 2e-8 or so, and shows. Values only.
- L = 300: D >= 180,000, and e/D is 6e-12. A gradient with respect to a query or key is a difference of two terms of the
  order 1/L, each of which changes by up to 2 e/D, so it is off by 4 e / (D L) = 8e-14 at most. It is measured on at
  least a thousandth of the largest gradient, that of the values, which is of the order of 1: 1e-9 of that is 1e-12.

In `small_total` the denominators are about one half instead, in float32: there e = 1e-6 makes 3e-6 at most, and
rounding is allowed 1e-5. Code that raises denominators to at least one shows there, and nowhere else.

Nothing is larger than 600 where gradients are checked, so exp(x) is finite for answers that write elu(x) + 1 with a
`where` over both branches.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise.inputs import Case

FAR, NEARER = 300.0, 30.0
FAINT = -1.9  # its feature is 0.15; four keys of six such features make a denominator of 0.54 with such a query
SIGNS = {"query": (1.0, 1.0, 1.0, -1.0, -1.0), "key": (1.0, 1.0, -1.0, 1.0, -1.0)}


def far_from_zero(case: Case, generator: torch.Generator) -> Case:
    """Make the first features lie between 300 and 600, or between their negatives."""
    return _raised(case, FAR)


def nearer_to_zero(case: Case, generator: torch.Generator) -> Case:
    """Make the first features lie between 30 and 60, or between their negatives."""
    return _raised(case, NEARER)


def small_total(case: Case, generator: torch.Generator) -> Case:
    """Make all features lie between 0.13 and 0.17."""
    changed = dict(case.arguments)
    for name in SIGNS:
        value = case.arguments[name]
        assert isinstance(value, Tensor)
        changed[name] = FAINT + 0.1 * torch.tanh(value)
    return replace(case, arguments=changed)


def _raised(case: Case, level: float) -> Case:
    changed = dict(case.arguments)
    for name, signs in SIGNS.items():
        value = case.arguments[name]
        assert isinstance(value, Tensor)
        large = level * (1 + torch.sigmoid(value[..., : len(signs)])) * torch.tensor(signs)
        changed[name] = torch.cat([large, value[..., len(signs) :]], dim=-1)
    return replace(case, arguments=changed)
