"""Return a quantised tensor, whose values are not in its bytes.

Expected: error RuntimeError
Stopped by: protocol
"""

import torch


def attend(q, k, v):
    return torch.quantize_per_tensor(torch.zeros(2, 3, 4), 0.1, 0, torch.qint8)
