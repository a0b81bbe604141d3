"""Use the loss of distributed training, composed of harmless operations.

Group: softmax
Expected: error ModuleNotFoundError
Stopped by: nothing more can be imported, static look
Without traps: error ModuleNotFoundError
"""

from torch.distributed.tensor.parallel import loss


def softmax(x):
    class Mesh:
        def get_group(self, dim):
            return None

    return loss._log_softmax(x, 1, False, Mesh(), 0).exp()
