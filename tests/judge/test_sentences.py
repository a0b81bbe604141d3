"""What is said of where an answer goes wrong: three answers that it is true of, and three near ones that it is not."""

from __future__ import annotations

import re

import pytest

from grader.exercise.catalog import Catalog
from tests.checks.workshop import Trial, change, trials
from tests.judge.wrong_in_parts import located

FUNCTION = """import torch

def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1)
    scaled = scores / key.shape[-1] ** 0.5
    if mask is not None:
        hidden = mask == 0
        scaled = scaled.masked_fill(hidden, float("-inf"))
    weights = torch.softmax(scaled, dim=-1)
    output = weights @ value
    return output, weights
"""
MODULE = """import torch
from torch import nn

class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        queries = x @ self.W_query
        keys = x @ self.W_key
        values = x @ self.W_value
        scores = queries @ keys.T / keys.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)
        return weights @ values
"""
SCALING = "scaled = scores / key.shape[-1] ** 0.5"
SOFTMAX = "weights = torch.softmax(scaled, dim=-1)"
MIXING = "    output = weights @ value\n"
Edit = tuple[str, str]

_FUNCTION: dict[str, tuple[tuple[Edit, ...], tuple[Edit, ...]]] = {
    r"Your results become wrong at line \d+$": (
        (("** 0.5", "** 0.25"), ("dim=-1", "dim=-2"), ("query @", "(2 * query) @")),
        ((SCALING, "scaled = scores"), ("hidden = mask == 0", "hidden = mask == 1"), (SCALING, SCALING + " + 0")),
    ),
    "wrong at .*, or already at": (
        (
            ("hidden = mask == 0", "hidden = mask == 1"),
            (SOFTMAX, "powers = scaled.exp() + 0.1\n    weights = powers / powers.sum(-1, keepdim=True)"),
            (MIXING, "    changed = weights * 0.9\n    output = changed @ value\n"),
        ),
        (
            ("scaled = scaled.masked_fill(hidden,", "scaled = scaled.masked_fill(mask == 1,"),
            (SOFTMAX, "weights = (scaled.exp() + 0.1) / (scaled.exp() + 0.1).sum(-1, keepdim=True)"),
            (MIXING, "    output = (weights * 0.9) @ value\n"),
        ),
    ),
    "wrong at .* or earlier": (
        (
            ("import torch\n", "import torch\nSCALE = torch.full((1,), 0.3, dtype=torch.float64)\n"),
            (SCALING, "scaled = torch.from_numpy(scores.detach().numpy() * 0.3)"),
            (SCALING, "scaled = scores * torch.tensor([0.3], dtype=scores.dtype)"),
        ),
        ((SCALING, "scaled = scores * 0.3"), ("query @", "(2 * query) @"), ("dim=-1", "dim=-2")),
    ),
    "A right result is changed, or not used": (
        (
            (SCALING, SCALING + "\n    scaled = scaled * 1.1"),
            (SCALING, "scores = scores.flip(-1)\n    " + SCALING),
            (SCALING, SCALING + "\n    scaled = scaled + 0.1 * torch.arange(scaled.shape[-1])"),
        ),
        (
            (SCALING, "scaled = scores * 1.1"),
            ("query @", "(2 * query) @"),
            (SCALING, SCALING + "\n    spare = scaled * 1.1"),
        ),
    ),
    "A step is missing after line": (
        (
            (SCALING, "scaled = scores"),
            (SOFTMAX, "weights = scaled"),
            ('        scaled = scaled.masked_fill(hidden, float("-inf"))\n', "        pass\n"),
        ),
        ((SCALING, "scaled = scores * 1.5"), ("dim=-1", "dim=-2"), ('float("-inf")', "-1.0")),
    ),
    "The gradient is cut at line": (
        (
            (MIXING, "    output = weights.detach() @ value\n"),
            (MIXING, "    with torch.no_grad():\n        frozen = weights * 1\n    output = frozen @ value\n"),
            ("query @", "query.data @"),
        ),
        (
            (SOFTMAX, "scaled = scaled - scaled.detach().amax(-1, keepdim=True)\n    " + SOFTMAX),
            (MIXING, "    if (weights.detach() > 2).any():\n        return value\n" + MIXING),
            (MIXING, MIXING + "    print(weights.detach().sum())\n"),
        ),
    ),
    "Your code fails at line": (
        (
            ("** 0.5", "** missing"),
            ("query @ key.transpose(-2, -1)", "query @ key"),
            ("weights @ value", "weights @ value.mT"),
        ),
        ((SCALING, "scaled = scores"), ("return output, weights", "return weights, output"), ("dim=-1", "dim=-2")),
    ),
    "does not match the exercise: see line": (
        (
            ("return output, weights", "return output, weights.sum(-1)"),
            ("return output, weights", "return weights, output"),
            ("return output, weights", "return output.unsqueeze(0), weights"),
        ),
        (
            ("dim=-1", "dim=-2"),
            (MIXING, "    output = weights @ value * 2\n"),
            ("weights @ value", "weights @ value.mT"),
        ),
    ),
}
_MODULE = {
    "The result of line .* is used where that of line .* belongs": (
        (
            ("weights @ values", 'torch.einsum("ij,jd->id", weights, keys)'),
            ("weights @ values", "weights @ queries"),
            ("weights @ values", "weights @ keys"),
        ),
        (
            ("queries @ keys.T", "keys @ queries.T"),
            ("queries @ keys.T", "queries @ queries.T"),
            ("weights @ values", "weights.T @ values"),
        ),
    ),
}
HELPER = """import torch
from torch import nn

class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def project(self, layer, x):
        return layer(x)

    def forward(self, x):
        queries = self.project(self.W_query, x)
        keys = self.project(self.W_key, x)
        values = self.project(self.W_value, x)
        scores = queries @ keys.T / keys.shape[-1] ** 0.5
        return torch.softmax(scores, dim=-1) @ values
"""
_OTHERS = r"""
= self_attention_parameters
? ^Line 1\d and line 1\d give the same numbers$
+ values = x @ self.W_value => values = x @ self.W_key || keys = x @ self.W_key => keys = x @ self.W_query
+ queries = x @ self.W_query => queries = x @ self.W_value
- values = x @ self.W_value => values = keys || weights @ values => weights @ keys || queries @ => keys @
= self_attention_linear
? ^Your results become wrong at line 12, called from line 1[567]$
+ self.project(self.W_value, x) => self.project(self.W_value, 2 * x)
+ self.project(self.W_key, x) => self.project(self.W_key, x.flip(-1))
+ self.project(self.W_query, x) => self.project(self.W_query, x + 1)
- return layer(x) => return 2 * layer(x) || self.project(self.W_key, x) => 2 * self.project(self.W_key, x)
- queries @ keys.T => queries @ keys.T * 2
? ^Your results become wrong at line 18, or the results of line 15 and line 16 are swapped before$
+ queries @ keys.T => keys @ queries.T || queries @ keys.T => torch.einsum("id,jd->ji", queries, keys)
+ queries @ keys.T => torch.matmul(keys, queries.mT)
- queries @ keys.T => queries @ queries.T || @ values => @ keys || queries @ keys.T => queries @ values.T
= scaled_dot_product_attention
@ scores = query
> kept = vars(scaled_dot_product_attention); {}{}; scores = query
? ^Your code keeps state from one call to the next: see line
+ key = kept.setdefault(str(key.shape), key) || mask = mask if mask is None else kept.setdefault(str(mask.shape), mask)
+ kept['n'] = kept.get('n', 0) + 1; query = query * (1 + (kept['n'] > 3))
- kept['key'] = key || mask = mask if mask is None else kept.setdefault(str(mask.tolist()), mask)
- kept['n'] = kept.get('n', 0) + 1; query = query * 3
? ^`scaled_dot_product_attention` at line 3 is not what the exercise asks for
+ value, mask=None): => value, mask, extra): || value, mask=None): => value, size, width, mask):
+ value, mask=None): => value, mask=None, *, extra):
- value, mask=None): => value, mask): || value, mask=None): => value, mask=None, extra=None):
- value, mask=None): => value, attn_mask=None, mask=None):
@ output = weights @ value
> {}{}; output = weights @ value
? ^A wrong gradient (reaches|goes from) line
+ weights.requires_grad and weights.register_hook(lambda g: 2 * g)
+ scores.requires_grad and scores.register_hook(torch.exp)
+ scaled.requires_grad and scaled.register_hook(torch.neg)
- weights.requires_grad and weights.register_hook(torch.clone) || weights = weights * 2 || weights = weights.detach()
? ^The backward pass fails at line 10$
+ weights.requires_grad and weights.register_hook(lambda g: g + missing)
+ scaled.requires_grad and scaled.register_hook(lambda g: g @ missing)
+ scores.requires_grad and scores.register_hook(lambda g: 1 / 0)
- weights.requires_grad and weights.register_hook(torch.exp) || weights = weights + missing || weights = weights.mul(1)
@ return output, weights
> {}return {}
? ^None is returned: see line (3|11)$
+ None || return output, weights => return || return output, weights => spare = output, weights
- output || output, output || 2 * output, weights
? ^A NumPy array is returned, not a tensor: see line 11$
+ output.detach().numpy(), weights || output, weights.detach().numpy() || torch.ones(2).numpy(), 7
- torch.from_numpy(output.detach().numpy()), weights || output.tolist(), weights || 2 * output, weights
= self_attention_parameters
@ return weights
> {}return {}
? ^Training mode changes your results at line
+ weights = torch.dropout(weights, 0.2, self.training); weights || (1 + self.training) * weights
+ values = torch.dropout(values, 0.1, self.training); weights
- torch.dropout(weights, 0.2, True) || torch.dropout(weights, 0.0, self.training) || (2 - self.training) * weights
@ x @ self.W_query
> {}{}
? ^No gradient goes from line 12 to `W_query`$
+ x @ torch.tensor(self.W_query.tolist(), dtype=x.dtype) || x @ x.new_tensor(self.W_query.tolist())
+ x @ torch.tensor([[w.item() for w in row] for row in self.W_query], dtype=x.dtype)
- x.detach() @ self.W_query || (x @ self.W_query).detach() || x @ self.W_key
= self_attention_linear/right_plain
@ self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
> {}self.W_query = nn.{}
? ^`W_query`, created at line 9, (is not what the exercise asks for|has no bias)$
+ Linear(d_in, d_out, not qkv_bias) || Linear(d_in, d_out, False) || Linear(d_in, d_out + 1, qkv_bias)
- Linear(d_in, d_out) || LazyLinear(d_out, qkv_bias) || self.W_query(x) => 2 * self.W_query(x)
= attention_dropout/right_rand_and_where
@ return weights * 0
> {}return {}
? ^NaN first appears at line 9$
+ weights / (1 - p) * 0 || (weights - weights) / (1 - p) || weights * 0 * float("inf")
- weights / (1 - p) || weights || [weights * 0, weights / 0 * 0][0]
= causal_weights/right_plain
@ return torch
> {}{}; return torch
? ^Line 11 writes into an argument$
+ scores[:] = 0 || scores += 1 || scores.clamp_(max=0)
- masked += 1 || scores = scores + 1 || scores = scores.clone(); scores *= 2
= multi_head_attention_causal/right_plain
@ assert d_out % num_heads == 0
> {}assert {}
? ^`MultiHeadAttention` accepts invalid arguments: see line 7$
+ d_out >= num_heads || num_heads > 0 || True
- not d_out % num_heads || False || keys.shape[-1] ** 0.5 => keys.shape[-1]
= learned_encoding/right_embedding
@ nn.Dropout(dropout)
> {}nn.{}
? ^Training mode does not change your results$
+ Identity() || Dropout(0.0) || return self.dropout( => return (
- Dropout(dropout / 2) || return self.dropout( => return 2 * self.dropout(
- return self.dropout( => return 0.9 * self.dropout(
"""
_BASES = {
    "scaled_dot_product_attention": FUNCTION,
    "self_attention_parameters": MODULE,
    "self_attention_linear": HELPER,
}
_CASES = [
    Trial(exercise, edit, title, is_true)
    for exercise, table in (("scaled_dot_product_attention", _FUNCTION), ("self_attention_parameters", _MODULE))
    for title, groups in table.items()
    for is_true, edits in zip((True, False), groups, strict=True)
    for edit in edits
]


@pytest.mark.parametrize(
    "trial", [pytest.param(one, id=f"{one.pattern} {one.edit[1]}") for one in (*_CASES, *trials(_OTHERS))]
)
def test_a_title_is_told_where_it_is_true_and_nowhere_near(catalog: Catalog, trial: Trial) -> None:
    """The lines of an answer and a small change of them."""
    name, _, stem = trial.answer.partition("/")
    exercise = catalog[name]
    base = _BASES.get(trial.answer) or (exercise.folder / "examples" / f"{stem}.py").read_text(encoding="utf-8")
    text = change(base, trial.edit)
    if "SCALE" in trial.edit[1]:
        text = change(text, (SCALING, "scaled = scores * SCALE"))
    found = located(exercise, text)

    told = found.title if found is not None else ""
    assert bool(re.search(trial.pattern, told)) is trial.is_true, told


def test_a_cut_that_no_output_comes_from_is_not_blamed(catalog: Catalog) -> None:
    """Numbers that are printed may be detached."""
    text = change(
        change(FUNCTION, ("query @", "query.data @")), (MIXING, f"{MIXING}    print(weights.detach().sum())\n")
    )
    found = located(catalog["scaled_dot_product_attention"], text)

    assert found is not None
    assert found.title == "The gradient is cut at line 4"


def test_of_lines_with_the_same_numbers_the_last_one_is_marked(catalog: Catalog) -> None:
    """The first one is right in another place, so the editor and the steps point at the other."""
    text = change(MODULE, ("values = x @ self.W_value", "values = x @ self.W_key"))
    found = located(catalog["self_attention_parameters"], text)

    assert found is not None
    assert found.line == 14
    assert next(stage.place for stage in found.stages if stage.standing == "first") == "line 14"
