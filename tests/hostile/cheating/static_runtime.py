"""Hand a scripted module over to the runtime for static graphs.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


class Module(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


def softmax(x):
    module = torch.jit.freeze(torch.jit.trace(Module().eval(), (x,)))
    return torch._C._jit_to_static_module(module._c)(x)
