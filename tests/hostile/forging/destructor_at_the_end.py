"""Leave an object whose end, when the interpreter shuts down, never comes to one.

Expected: right
Stopped by: clock, own fork
Own: yes
"""

import torch


class Stays:
    def __del__(self):
        while True:
            pass


kept = Stays()
kept.itself = kept


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
