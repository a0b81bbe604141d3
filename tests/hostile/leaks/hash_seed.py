"""Print the seed of the hashes and an address: all children of one zygote have the same, until it is renewed.

Expected: right
Stopped by: own fork
"""

import torch

print(hash("x"), id(torch))


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
