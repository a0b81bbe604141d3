"""Every route we know to a ready-made answer, run with and without traps; started by test_traps as a program.

A route is an expression over `q`, `k`, `v` (2, 2, 3, 4) in float64 and `x`, a two-dimensional `q`. Each group
runs in a fork of its own, because traps are for life. Prints JSON: `{route: {"trapped": outcome, "free": outcome}}`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable

import torch
import torch._dynamo
import torch._refs.nn.functional
import torch._refs.special
import torch.nn.attention.bias
import torch.nn.attention.flex_attention
from torch import nn

from grader.box import traps
from grader.errors import ForbiddenCall

ATTENTION = {
    "plain call": "F.scaled_dot_product_attention(q, k, v)",
    "with autograd": "F.scaled_dot_product_attention(q.requires_grad_(), k, v)",
    "inference mode": "under(torch.inference_mode(), lambda: F.scaled_dot_product_attention(q, k, v))",
    "joined name": "getattr(F, '_'.join(['scaled', 'dot', 'product', 'attention']))(q, k, v)",
    "importlib": "importlib.import_module('torch.nn.functional').scaled_dot_product_attention(q, k, v)",
    "eval of base64": "eval(base64.b64decode('Ri5zY2FsZWRfZG90X3Byb2R1Y3RfYXR0ZW50aW9u'))(q, k, v)",
    "builtin found by gc": (
        "next(o for o in gc.get_objects() if type(o) is dict and callable(o.get('scaled_dot_product_attention')))"
        "['scaled_dot_product_attention'](q, k, v)"
    ),
    "C module": "torch._C._nn.scaled_dot_product_attention(q, k, v)",
    "packet": "torch.ops.aten.scaled_dot_product_attention(q, k, v)",
    "overload": "torch.ops.aten.scaled_dot_product_attention.default(q, k, v)",
    "decompose": "torch.ops.aten.scaled_dot_product_attention.default.decompose(q, k, v)",
    "by dispatch key": (
        "torch.ops.aten.scaled_dot_product_attention.default._op_dk("
        "torch._C.DispatchKey.CompositeImplicitAutograd, q, k, v)"
    ),
    "jit operation": "jit_operation('aten::scaled_dot_product_attention')(q, k, v, None, 0.0, False)",
    "jit trace": "torch.jit.trace(F.scaled_dot_product_attention, (q, k, v))(q, k, v)",
    "math kernel": "torch.ops.aten._scaled_dot_product_attention_math(q, k, v)[0]",
    "math kernel in torch": "torch._scaled_dot_product_attention_math(q, k, v)[0]",
    "flash kernel": "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v)[0]",
    "dispatch disabled": (
        "under(torch._C._DisableTorchDispatch(), lambda: F.scaled_dot_product_attention(q, k, v))"
    ),
    "autograd excluded": (
        "under(torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradCPU)),"
        " lambda: F.scaled_dot_product_attention(q, k, v))"
    ),
    "below autograd": "under(torch._C._AutoDispatchBelowAutograd(), lambda: F.scaled_dot_product_attention(q, k, v))",
    "vmap": "torch.func.vmap(F.scaled_dot_product_attention)(q, k, v)",
    "vmap of vmap": "torch.func.vmap(torch.func.vmap(F.scaled_dot_product_attention))(q, k, v)",
    "func.grad": "torch.func.grad(lambda a: F.scaled_dot_product_attention(a, k, v).sum())(q)",
    "vmap of math kernel": (
        "torch.func.vmap(lambda a: torch.ops.aten._scaled_dot_product_attention_math(a, a, a)[0])(q)"
    ),
    "checkpoint": "checkpoint(F.scaled_dot_product_attention, q, k, v, use_reentrant=False)",
    "nested": "F.scaled_dot_product_attention(*3 * [torch.nested.nested_tensor([q[0], q[1]])])",
    "causal bias": (
        "F.scaled_dot_product_attention(q, k, v, attn_mask=torch.nn.attention.bias.causal_lower_right(3, 3))"
    ),
    "module without weights": "nn.MultiheadAttention(4, 2).double()(x, x, x, need_weights=False)[0]",
    "module with weights": "nn.MultiheadAttention(4, 2).double()(x, x, x)[0]",
    "module made before": "module(x, x, x)[0]",
    "module without init": "raw_module()(x, x, x)[0]",
    "functional": (
        "F.multi_head_attention_forward(x, x, x, 4, 2, torch.ones(12, 4).double(), None, None, None, False, 0.0,"
        " torch.eye(4).double(), None)[0]"
    ),
    "encoder layer": "nn.TransformerEncoderLayer(4, 2, 8, 0.0).double().eval()(x)",
    "decoder layer": "nn.TransformerDecoderLayer(4, 2, 8, 0.0).double().eval()(x, x)",
    "transformer": "nn.Transformer(4, 2, 1, 1, 8, 0.0).double().eval()(x, x)",
    "native multi-head": (
        "torch._native_multi_head_attention(q[0], q[0], q[0], 4, 2, torch.ones(12, 4).double(),"
        " torch.ones(12).double(), torch.eye(4).double(), torch.ones(4).double())[0]"
    ),
    "flex attention": "torch.nn.attention.flex_attention.flex_attention(q, k, v)",
    "re-registered": "re_registered()(q, k, v)",
    "found and destroyed": "destroyed()(q, k, v)",
}  # fmt: skip

SOFTMAX = {
    "torch": "torch.softmax(q, -1)",
    "functional": "F.softmax(q, dim=-1)",
    "method": "q.softmax(-1)",
    "with autograd": "torch.softmax(q.requires_grad_(), -1)",
    "into": "torch.softmax(q, -1, out=torch.empty_like(q))",
    "module": "nn.Softmax(dim=-1)(q)",
    "module made before": "softmax_module(q)",
    "module 2d": "nn.Softmax2d()(q)",
    "softmin": "F.softmin(-q, dim=-1)",
    "log": "F.log_softmax(q, dim=-1).exp()",
    "log method": "q.log_softmax(-1).exp()",
    "logsumexp": "(q - torch.logsumexp(q, -1, keepdim=True)).exp()",
    "logsumexp method": "q.logsumexp(-1)",
    "logcumsumexp": "torch.logcumsumexp(q, -1)",
    "special": "torch.special.softmax(q, -1)",
    "special log": "torch.special.log_softmax(q, -1)",
    "special logsumexp": "torch.special.logsumexp(q, -1)",
    "kernel": "torch.ops.aten._softmax(q, -1, False)",
    "kernel into": "torch.ops.aten._softmax.out(q, -1, False, out=torch.empty_like(q))",
    "safe": "torch.ops.aten._safe_softmax(q, -1)",
    "masked kernel": "torch._masked_softmax(q, torch.zeros(2, 2, 3, 4).bool(), -1)",
    "masked": "torch.masked.softmax(q, -1)",
    "sparse": "torch.sparse.softmax(x.to_sparse(), -1).to_dense()",
    "sparse kernel": "torch.ops.aten._sparse_softmax.default(x.to_sparse(), -1, False)",
    "nested kernel": "torch.ops.aten._softmax(torch.nested.nested_tensor([x, x]), -1, False)",
    "cross entropy": "F.cross_entropy(x, torch.zeros(3).long(), reduction='none')",
    "cross entropy loss": "nn.CrossEntropyLoss()(x, torch.zeros(3).long())",
    "gumbel": "F.gumbel_softmax(q, dim=-1)",
    "reduction of einops": "__import__('einops').reduce(q, 'a b c d -> a b c', lambda x, i: x.softmax(-1).sum(i))",
    "vmap": "torch.func.vmap(lambda a: a.softmax(-1))(q)",
    "jvp": "torch.func.jvp(lambda a: a.softmax(-1), (q,), (q,))[0]",
    "reference": "torch._refs.softmax(q, -1)",
    "reference functional": "torch._refs.nn.functional.softmax(q, -1)",
    "decomposition": "torch._decomp.decompositions._softmax(q, -1, False)",
    "attention on an identity": "F.scaled_dot_product_attention(q, k, v)",
}

DROPOUT = {
    "functional": "F.dropout(q, 0.5)",
    "torch": "torch.dropout(q, 0.5, True)",
    "in place": "torch.dropout_(q, 0.5, True)",
    "module": "nn.Dropout(0.5)(q)",
    "module made before": "dropout_module(q)",
    "native": "torch.native_dropout(q, 0.5, True)[0]",
    "feature": "torch.feature_dropout(q, 0.5, True)",
    "alpha": "F.alpha_dropout(q, 0.5, True)",
    "dropout2d": "F.dropout2d(q, 0.5)",
    "vmap": "torch.func.vmap(lambda a: F.dropout(a, 0.5), randomness='different')(q)",
}

GROUPS = {"attention": ATTENTION, "softmax": SOFTMAX, "dropout": DROPOUT}

PRELUDE = """
import base64, gc, importlib, ctypes
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

def under(guard, call):
    with guard:
        return call()

def jit_operation(name):
    found = torch._C._jit_get_operation(name)
    return found[0]

def raw_module():
    made = nn.MultiheadAttention.__new__(nn.MultiheadAttention)
    made.__dict__.update(module.__dict__)
    return made

def re_registered():
    mine = torch.library.Library("aten", "IMPL")
    mine.impl("relu", lambda value: value, "CPU")
    mine._destroy()
    return F.scaled_dot_product_attention

def destroyed():
    for thing in gc.get_objects():
        if type(thing) is torch.library.Library:
            thing._destroy()
        elif type(thing).__name__ == "_DispatchModule":
            thing.reset()
    gc.collect()
    return F.scaled_dot_product_attention
"""


HONEST_UNDER = ("attention", "attention dropout", "attention softmax dropout")

HONEST = """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return value * 2
    @staticmethod
    def backward(ctx, upstream):
        return upstream * 2

layer = nn.Linear(4, 4).double()
x = torch.ones(2, 3, 4, dtype=torch.float64, requires_grad=True)
scores = torch.einsum("bqd,bkd->bqk", layer(x), layer(x)).masked_fill(torch.ones(3, 3).triu(1).bool(), float("-inf"))
if softmax_is_free:
    weights = (F.softmax(scores, dim=-1) + torch.softmax(scores, -1) + nn.Softmax(dim=-1)(scores)) / 3
else:
    weights = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = weights / weights.sum(-1, keepdim=True)
kept = weights * torch.bernoulli(torch.full_like(weights, 0.5))
(Double.apply(kept) @ layer(x)).sum().backward()
torch.func.vmap(lambda row: row.tanh().sum())(x.detach())
assert x.grad.isfinite().all()
"""


def honest(groups: str) -> dict[str, str]:
    """Run ordinary code under the traps of `groups`, by their names with spaces between."""
    scope: dict[str, object] = {"softmax_is_free": "softmax" not in groups}
    traps.install(tuple(groups.split()))
    exec(PRELUDE, scope)
    try:
        exec(HONEST, scope)
    except Exception as error:  # noqa: BLE001  # reported, whatever it is
        return {groups: f"{type(error).__name__}: {error}"}
    return {groups: "ran"}


def outcomes(group: str, *, trapped: bool) -> dict[str, str]:
    """Run all routes of a group in this process; say of each how it ended: `ran`, `trapped: NAME` or the error."""
    scope: dict[str, object] = {
        "module": nn.MultiheadAttention(4, 2).double(),
        "softmax_module": nn.Softmax(dim=-1),
        "dropout_module": nn.Dropout(0.5),
    }
    if trapped:
        traps.install((group,))
    exec(PRELUDE, scope)
    return {name: outcome(route, scope) for name, route in GROUPS[group].items()}


def outcome(route: str, scope: dict[str, object]) -> str:
    """Run one route on fresh tensors."""
    torch.manual_seed(0)
    for name in "qkv":
        scope[name] = torch.randn(2, 2, 3, 4, dtype=torch.float64)
    scope["x"] = torch.randn(3, 4, dtype=torch.float64)
    try:
        eval(route, scope)
    except ForbiddenCall as error:
        return f"trapped: {error.what}"
    except Exception as error:  # noqa: BLE001  # a route that does not run is reported, whatever stops it
        return f"{type(error).__name__}: {error}"
    return "ran"


def in_a_fork(work: Callable[[], dict[str, str]]) -> dict[str, str]:
    """Return what `work` gives in a fork of this process."""
    with tempfile.TemporaryFile() as file:
        child = os.fork()
        if child == 0:
            file.write(json.dumps(work()).encode())
            file.flush()
            os._exit(0)
        os.waitpid(child, 0)
        file.seek(0)
        found: dict[str, str] = json.loads(file.read())
        return found


def main() -> None:
    """Run all routes and print what became of them."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    found: dict[str, dict[str, str]] = {"honest": {}}
    for groups in HONEST_UNDER:
        found["honest"] |= in_a_fork(lambda groups=groups: honest(groups))
    for group in GROUPS:
        trapped = in_a_fork(lambda group=group: outcomes(group, trapped=True))
        free = in_a_fork(lambda group=group: outcomes(group, trapped=False))
        found |= {f"{group}: {name}": {"trapped": trapped[name], "free": free[name]} for name in trapped}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
