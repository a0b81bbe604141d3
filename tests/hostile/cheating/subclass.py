"""Let a tensor subclass make the call, from within another operation.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


class Answering(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), options=None):
        with torch._C.DisableTorchFunctionSubclass():
            return F.scaled_dot_product_attention(*(one.as_subclass(torch.Tensor) for one in arguments))


def attend(q, k, v):
    return torch.addcmul(q.as_subclass(Answering), k, v)
