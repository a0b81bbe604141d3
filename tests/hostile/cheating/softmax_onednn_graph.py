"""Let the TorchScript interpreter hand the graph over to another library.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


class Module(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


def softmax(x):
    torch.jit.enable_onednn_fusion(True)
    module = torch.jit.freeze(torch.jit.trace(Module().eval(), (x.float(),)))
    for _ in range(3):
        found = module(x.float())
    return found.double()
