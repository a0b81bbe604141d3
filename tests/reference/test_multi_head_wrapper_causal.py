"""The reference of the wrapper around causal heads."""

import pytest
import torch
from torch.nn import functional as F

from reference.causal_attention import CausalAttention
from reference.multi_head_attention_causal import MultiHeadAttention
from reference.multi_head_wrapper_causal import MultiHeadAttentionWrapper, join, mix
from tests.reference.conftest import draw

NAMES = ("W_query", "W_key", "W_value")


def side_by_side(wrapper, name, part):
    """Return the weights, or the biases, of all heads as those of one wide projection."""
    return torch.cat([getattr(getattr(head, name), part) for head in wrapper.heads])


def test_the_published_output_comes_out_under_its_seed(table):
    """With one head it gives the published table of causal attention, dropout and all."""
    published = table("causal-attention")
    x, settings = published.input, published.settings
    torch.manual_seed(settings["manual_seed"])

    found = MultiHeadAttentionWrapper(settings["d_in"], settings["d_out"], x.shape[1], settings["dropout"], 1)(x)

    assert published.agrees_with(found)


@pytest.mark.parametrize("qkv_bias", [False, True])
@pytest.mark.parametrize(("time", "d_out", "num_heads"), [(5, 4, 3), (1, 3, 2), (8, 6, 1)])
def test_it_agrees_with_torch(time, d_out, num_heads, qkv_bias):
    """Output and gradients in float64 are those of F.scaled_dot_product_attention, told to be causal."""
    wrapper = MultiHeadAttentionWrapper(7, d_out, 8, 0.5, num_heads, qkv_bias).double().eval()
    ours, theirs = (draw(2, time, 7, seed=1).requires_grad_() for _ in range(2))
    upstream = draw(2, time, num_heads * d_out, seed=2)

    output = wrapper(ours)
    biases = [side_by_side(wrapper, name, "bias") if qkv_bias else None for name in NAMES]
    wide = [F.linear(theirs, side_by_side(wrapper, name, "weight"), b) for name, b in zip(NAMES, biases, strict=True)]
    heads = (part.unflatten(2, (num_heads, d_out)).transpose(1, 2) for part in wide)
    expected = F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2)
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0.0, atol=1e-12)


def test_one_head_is_causal_attention():
    """With a single head it is causal attention."""
    single, wrapper = CausalAttention(3, 4, 5, 0.0).double(), MultiHeadAttentionWrapper(3, 4, 5, 0.0, 1).double()
    wrapper.heads[0].load_state_dict(single.state_dict())
    x = draw(2, 5, 3, seed=1)

    torch.testing.assert_close(wrapper(x), single(x), rtol=0.0, atol=1e-12)


def test_it_is_split_attention_before_the_output_projection():
    """One wide projection, split into heads, gives the same where its output projection changes nothing."""
    wrapper = MultiHeadAttentionWrapper(7, 4, 5, 0.0, num_heads=3).double()
    split = MultiHeadAttention(7, 12, 5, 0.0, num_heads=3).double()
    wide = {f"{name}.weight": side_by_side(wrapper, name, "weight") for name in NAMES}
    split.load_state_dict({**wide, "W_out.weight": torch.eye(12), "W_out.bias": torch.zeros(12)})
    x = draw(2, 5, 7, seed=1)

    torch.testing.assert_close(wrapper(x), split(x), rtol=0.0, atol=1e-12)


def test_each_head_drops_for_itself():
    """With the same weights in all heads, what training mode drops differs from head to head."""
    wrapper, x = MultiHeadAttentionWrapper(7, 4, 8, 0.5, num_heads=2).double(), draw(2, 8, 7, seed=1)
    wrapper.heads[1].load_state_dict(wrapper.heads[0].state_dict())

    whole = wrapper.eval()(x)
    torch.manual_seed(1)
    dropped = wrapper.train()(x)

    assert torch.equal(whole[..., :4], whole[..., 4:])
    assert not torch.equal(dropped[..., :4], dropped[..., 4:])


def test_the_statements_example_is_true():
    """Mixed with the weights of the statement, its values give the numbers printed there."""
    values = torch.tensor([[[1.0, 2.0], [5.0, 6.0]]]), torch.tensor([[[3.0, 4.0], [7.0, 8.0]]])
    weights = torch.tensor([[[1.0, 0.0], [0.5, 0.5]]]), torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])

    found = join([mix(w, v) for w, v in zip(weights, values, strict=True)])

    assert found.tolist() == [[[1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 7.0, 8.0]]]
