"""Return to oneself from within torch's own dispatch.

Expected: error RecursionError
Stopped by: catch-all
"""

import torch


class Again(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, kinds, arguments=(), options=None):
        return arguments[0] + 1


def attend(q, k, v):
    return q.as_subclass(Again) + 1
