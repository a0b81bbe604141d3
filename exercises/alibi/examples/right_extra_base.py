# verdict: full marks
import math
import torch

def build_alibi_tensor(num_heads, seq_length, dtype):
    closest_power_of_2 = 2 ** math.floor(math.log2(num_heads))
    base = torch.tensor(2 ** (-(2 ** -(math.log2(closest_power_of_2) - 3))), dtype=dtype)
    powers = torch.arange(1, 1 + closest_power_of_2, dtype=torch.int32)
    slopes = torch.pow(base, powers)

    if closest_power_of_2 != num_heads:
        extra_base = torch.tensor(2 ** (-(2 ** -(math.log2(2 * closest_power_of_2) - 3))), dtype=dtype)
        num_remaining_heads = min(closest_power_of_2, num_heads - closest_power_of_2)
        extra_powers = torch.arange(1, 1 + 2 * num_remaining_heads, 2, dtype=torch.int32)
        slopes = torch.cat([slopes, torch.pow(extra_base, extra_powers)], dim=0)

    positions = torch.arange(seq_length)
    arange_tensor = positions[None, :] - positions[:, None]
    return slopes[..., None, None] * arange_tensor[None]

def alibi_bias(num_heads, seq_len):
    alibi = build_alibi_tensor(num_heads, seq_len, torch.get_default_dtype())
    causal = torch.ones(seq_len, seq_len, dtype=torch.bool).tril()
    return alibi.masked_fill(~causal, float("-inf"))
