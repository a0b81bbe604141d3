"""Make the target a copy of the source, class and all, and carry no weight over.

Exercise: weight_transfer
At most: 0 points
"""

import copy


def transfer_weights(source, target):
    target.__class__ = type(source)
    target.__dict__ = copy.deepcopy(source).__dict__
