# verdict: full marks
import torch
def dropout_layer(X, dropout):
    assert 0 <= dropout <= 1
    if dropout == 1: return torch.zeros_like(X) * X
    mask = (torch.rand(X.shape) > dropout).to(X.dtype)
    return mask * X / (1.0 - dropout)
def attention_dropout(weights, p, training=True):
    return dropout_layer(weights, p) if training else weights
