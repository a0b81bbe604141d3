# verdict: loses gradients
# diagnosis: result_cut_off
import numpy as np
import torch


def apply_rotary(x, base=10000.0, offset=0):
    y = x.detach().numpy()
    d = y.shape[-1]
    a = np.outer(np.arange(y.shape[2]) + offset, base ** (-np.arange(0, d, 2) / d))
    z = (y[..., ::2] + 1j * y[..., 1::2]) * np.exp(1j * a)
    return torch.tensor(np.stack([z.real, z.imag], -1).reshape(y.shape), dtype=x.dtype)
