"""Close the result's descriptor and have the next duplicate take its number.

Expected: crashed
Stopped by: protocol
Own: yes
"""

import os

import torch

os.close(4)
os.dup(1)


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
