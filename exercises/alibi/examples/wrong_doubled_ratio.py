# verdict: loses numerics
import math
import torch

def get_slopes(n_heads: int):
    n = 2 ** math.floor(math.log2(n_heads))
    m_0 = 2.0 ** (-8.0 / n)
    m = torch.pow(m_0, torch.arange(1, 1 + n))
    if n < n_heads:
        m_hat_0 = 2.0 ** (-8.0 / n)
        m_hat = torch.pow(m_hat_0, torch.arange(1, 1 + 2 * (n_heads - n), 2))
        m = torch.cat([m, m_hat])
    return m

@torch.no_grad()
def get_alibi_biases(n_heads: int, mask: torch.Tensor):
    m = get_slopes(n_heads).to(mask.device)
    distance = mask.cumsum(dim=-1) - mask.cumsum(dim=-1).amax(dim=-1, keepdim=True)
    return distance[None, :, :] * m[:, None, None]

def alibi_bias(num_heads, seq_len):
    mask = torch.tril(torch.ones(seq_len, seq_len))
    bias = get_alibi_biases(num_heads, mask)
    return bias.masked_fill(mask == 0, -torch.inf)
