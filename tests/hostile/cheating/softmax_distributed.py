"""Use the loss of distributed training, composed of harmless operations.

Group: softmax
Expected: wrong
Stopped by: nothing more can be imported; a stand-in takes its place, static look
Without traps: wrong
"""

from torch.distributed.tensor.parallel import loss


def softmax(x):
    class Mesh:
        def get_group(self, dim):
            return None

    return loss._log_softmax(x, 1, False, Mesh(), 0).exp()
