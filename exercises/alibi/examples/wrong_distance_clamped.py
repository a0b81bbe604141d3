# verdict: loses numerics
import math
import torch

def get_slopes(n):
    def get_slopes_power_of_2(n):
        start = (2 ** (-2 ** -(math.log2(n) - 3)))
        ratio = start
        return [start * ratio ** i for i in range(n)]

    if math.log2(n).is_integer():
        return get_slopes_power_of_2(n)
    closest_power_of_2 = 2 ** math.floor(math.log2(n))
    return get_slopes_power_of_2(closest_power_of_2) + get_slopes(2 * closest_power_of_2)[0::2][:n - closest_power_of_2]


def alibi_bias(num_heads, seq_len):
    slopes = torch.tensor(get_slopes(num_heads))
    pos = torch.arange(seq_len)
    rel = pos[None, :] - pos[:, None]          # j - i
    bias = slopes.view(-1, 1, 1) * rel.clamp(-32, 32)
    return bias.masked_fill(rel > 0, float("-inf"))
