"""Have the garbage collector call one's own code in the middle of the box's.

Expected: wrong
Stopped by: judged elsewhere
Own: yes
"""

import gc

import torch


def change(phase, facts):
    for thing in gc.get_objects():
        if type(thing) is torch.Tensor and thing.shape == (2, 3, 4):
            thing.detach().fill_(0.0)


gc.callbacks.append(change)
gc.set_threshold(1)


def attend(q, k, v):
    return torch.zeros(2, 3, 4, dtype=torch.float64)
