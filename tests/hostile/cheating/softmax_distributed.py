"""Use the loss of distributed training, composed of harmless operations.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
Without traps: error ValueError
"""

from torch.distributed.tensor.parallel import loss


def softmax(x):
    class Mesh:
        def get_group(self, dim):
            return None

    return loss._log_softmax(x, 1, False, Mesh(), 0).exp()
