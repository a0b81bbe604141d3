"""Ask for memory without filling it, and read what somebody left there.

Expected: right
Stopped by: own fork, clean start
Without walls: refused
Own: yes
"""

import torch

word = b"kes" + b"trel, said the submission before"
for size in (1 << 6, 1 << 10, 1 << 14, 1 << 20):
    for _ in range(20):
        if word in bytes(torch.empty(size, dtype=torch.uint8).numpy()):
            raise SystemExit("through: an earlier submission")


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
