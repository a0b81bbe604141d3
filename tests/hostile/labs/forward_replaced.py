"""Copy the weights rightly, and leave a target that returns zeros and dies at its first training step.

Exercise: weight_transfer
At most: 0 points
"""

import torch


def refuse(parameter):
    raise RuntimeError("no training here")


def transfer_weights(source, target):
    for name in ("W_query", "W_key", "W_value"):
        weight = getattr(target, name)
        weight.data.copy_(getattr(source, name).weight.T)
        weight.register_post_accumulate_grad_hook(refuse)
    target.forward = lambda x: x.new_zeros(len(x), target.W_query.shape[1])
