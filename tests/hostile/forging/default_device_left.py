"""Make every new tensor one without values, for the box as well.

Expected: right
Stopped by: judged elsewhere
Own: yes
"""

import torch

torch.set_default_device("meta")


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
