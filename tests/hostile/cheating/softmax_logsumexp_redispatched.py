"""The same, where the dispatcher keeps its general kernel.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return (
        x
        - torch.ops.aten.logsumexp.default.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.XLA), x, [-1], True)
    ).exp()
