# verdict: loses gradients
# diagnosis: graph_cut
import torch


@torch.no_grad()
def drop(w, p):
    return w * (torch.rand_like(w) >= p) / (1 - p) if p < 1 else torch.zeros_like(w)


def attention_dropout(weights, p, training=True):
    return drop(weights, p) if training else weights
