"""Use the transform of the distributions, composed of harmless operations.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

from torch.distributions.transforms import SoftmaxTransform


def softmax(x):
    return SoftmaxTransform()(x)
