"""Every message of a check: three answers of which it is true, and three near ones of which it must not be told.

A near answer is right, or wrong in another way.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import islice

import pytest
import torch
from torch import Tensor

from grader.box.inline import InlineBox
from grader.box.keys import variant_of
from grader.box.run import Limits
from grader.box.train import PAD
from grader.checks.learning import tensor, training_calls
from grader.checks.registry import checks
from grader.exercise.catalog import ROOT, Exercise, read_exercise
from grader.judge.attempt import Truth, attempt
from grader.judge.grade import observe_reference
from grader.judge.sheet import Sheet, draw_up
from tests.checks import test_learning as learning
from tests.checks.workshop import Trial, change, trials

_TABLE = r"""
= softmax/right_two_lines
@ return e / torch.sum(e, dim=dim, keepdim=True)
> softmax.n = vars(softmax).get('n', 0) + (x.numel() == 210); total = e.sum(dim, True); out = e / total; {}return {}
? must be a tensor of shape .*; you returned
+ None || out.tolist() || out.detach().numpy()
- out.sum(dim) || out.half() || [*out][0][None] if x.dim() > 9 else out
? must be a tensor of shape .*; yours has shape \([\d, ]*\)$
+ out.sum(dim) || out[None] || out.flatten()
- None || out.half() || out.flatten().view(x.shape) * 2
? must be a tensor of shape .*; yours has shape .*, and is \w+; it must be float64, as the input is
+ out[None].half() || out.sum(dim) > 0 || e.long().flatten()
- out[None] || out.half() || out * 2
? ^`softmax` must be float64, as the input is; yours is
+ out.half() || out.long() || out > 0.5
- out.half().to(x.dtype) || out[None].half() || out.double().to(x.dtype) * 2
? where the input is float64 and torch's default dtype is float32, .* must be float64 as well; yours is
+ torch.empty(x.shape).copy_(out) || torch.zeros(x.shape).add_(out) || torch.tensor(out.tolist())
- x.new_empty(x.shape).copy_(out) || torch.ones(x.shape) * out || out.half()
? expected .*, got .* \(allowed difference .*\); \d+ of \d+ numbers differ
+ out * 2 || out.roll(1, -1) || out + 1e-6
- out + 0 || out[None] || out * torch.nan
? ; all your values are \S+ times the expected ones$
+ out * 2 || out / -3 || out * 0.99
- out**2 || out.roll(1, -1) || out * (1 + 1e-6)
? \d numbers (is|are) NaN: .* and so does a softmax over a row
+ out * torch.nan || out[..., :1] = torch.nan; out || out if x.dim() > 1 else out / 0 - out / 0
- out if x.dim() == 1 else out * torch.nan || out / 0 || out + 1
? two equal calls give different results: `softmax` changes when
+ out + torch.rand(1) || torch.dropout(out, 0.5, True) || softmax.n = getattr(softmax, 'n', 0) + 1; out * softmax.n
- out + 1 || torch.dropout(out, 0.5, False)
- out * torch.rand(1, generator=torch.Generator().manual_seed(0)).to(x.dtype)
? must not change its arguments; it changes `x` in place
+ x *= 2; out || x.clamp_(max=0); out || x[...] = 0; out
- e *= 2; out || x = x * 2; out || y = x.clone(); y *= 2; out
? called a second time, with different inputs, your output is wrong.*state that your code keeps
+ vars(softmax).setdefault(str((x.shape, x.dtype, dim)), out)
+ e = vars(softmax).setdefault(str((x.shape, x.dtype)), e); e / e.sum(dim, keepdim=True)
+ vars(softmax).setdefault(str(x.shape), out) if x.dim() == 4 else out
- out + (1e-3 if x.dim() == 4 and x.abs().max() < 1.5 else 0) || softmax.last = out; out || out * (1 + (x.dim() == 4))
? for other inputs of the same shape, your output is wrong
+ out + (1e-3 if x.dim() == 4 and x.abs().max() < 1.5 else 0) || out * 2 if x.dim() == 4 and x.amax() < 1.5 else out
+ out if x.dim() != 4 or x.std() > 0.7 else out.roll(1, -1)
- out + (1e-3 if x.dim() == 4 else 0) || vars(softmax).setdefault(str((x.shape, x.dtype, dim)), out)
- out * 2 if x.dim() == 5 and x.amax() < 1.5 else out
? called again, with the first inputs, your output is wrong.*The first call is right, so look for state
+ out * (1 + (softmax.n > 3)) || out if softmax.n < 4 else out.roll(1, -1) || out + 1e-3 * (softmax.n == 4)
- out * (1 + (softmax.n > 30)) || out * (1 + (softmax.n > 0)) || out * (1 + (softmax.n == 2))
? called under `torch.no_grad.*, your output is wrong.*With gradients it is right
+ out * (1 + (not torch.is_grad_enabled())) || out if torch.is_grad_enabled() else out.roll(1, -1)
+ out + 1e-3 * (not torch.is_grad_enabled())
- out if torch.is_grad_enabled() else out.detach() || out * 2 || out.detach() if out.requires_grad else out
? for the same tensors, with `dim` = 1, your output is wrong: .* numbers differ
+ out * (1 + (dim == 1)) || out if dim != 1 else torch.softmax(x, 2) || out * (1 + (x.dim() == 4 and dim > 0))
- out * (1 + (dim == 7)) || out if dim != 0 else torch.softmax(x, 1) || out * 2
? called a second time, with `dim` = 1, your output is wrong: .*keeps something from .*, or does not use `dim`
+ vars(softmax).setdefault(str((x.shape, x.sum().item())), out)
+ first = vars(softmax).setdefault(str((x.shape, x.dtype)), out); first if dim == 1 else out
+ torch.softmax(x, -1) if dim == 1 else out
- out * (1 + (dim == 1)) || out if dim != 1 else torch.softmax(x, 2) || softmax.seen = out; out
? called a second time, with `dim` = 1: ValueError: invalid literal
+ int('no') if dim == 1 else out || int('no') if dim > 0 and x.dim() == 4 else out
+ out if dim in (-1, 0, -2) else int('no')
- int('no') || int('no') if dim == 7 else out || out * (1 + (dim == 1))
? called again, with the first inputs: ValueError: invalid literal
+ int('no') if softmax.n > 3 else out || out if softmax.n < 4 else int('no') || out if softmax.n != 4 else int('no')
- int('no') if softmax.n > 30 else out || int('no') if softmax.n > 0 else out || out * (1 + (softmax.n > 3))
? no gradient reaches `x`: either your output does not depend on it, or the graph is cut
+ out.detach() || torch.tensor(out.tolist(), dtype=x.dtype) || out.data + 0
- e / total.detach() || out.clone() || out.detach() + 0 * e
? gradient of `x` contains NaN or infinite numbers, although your output has none
+ out + 0 * (e * 0).sqrt() || out + 0 * (e * 0) ** 0.5 || torch.where(e >= 0, out, (e * 0).sqrt() / 0)
- out + 0 * (e + 1).sqrt() || out * torch.nan || out.detach()
? gradient of `x` contains NaN or infinite numbers, and so does your output
+ out * torch.nan || (e - e) / (e - e) * out || out + (e * 0).log() * 0
- out + 0 * (e * 0).sqrt() || out + 1 || out.detach() * torch.nan
? gradient of `x` is zero everywhere: either your output does not depend on it, or
+ 0 * e + 1 / x.shape[dim] || torch.where(e > 9, e, 0.1) || e.clamp(max=-1) + 2
- out.detach() || out + 0 * e || 2 * out - out.detach()
? ^`gradient of x` at .* expected .*, got
+ e / total.detach() || 2 * out - out.detach() || out + 1e-3 * (e - e.detach())
- out * 2 || out.detach() || out + e - e
? modified by an inplace operation \(in the backward pass\); a tensor that the backward pass needs
+ e *= 2; out || e.zero_(); out || total += 1; out
- e = e * 2; out || out.mul_(1) || out.detach()
? ^NotImplementedError \(in your code, line 7\); write your code here$
+ raise NotImplementedError; 0 || raise NotImplementedError(); 0 || raise NotImplementedError('  '); 0
- raise NotImplementedError('a'); 0 || out || int('no')
? ^ZeroDivisionError: .* \(in your code, line 7\)
+ out * (1 / 0) || 1 // 0; out || out if x.dim() > 1 else out * (0 % 0)
- out / 0 || out * [][0] || out
= scaled_dot_product_attention/right_annotated
@ return torch.matmul(p_attn, value), p_attn
> out = torch.matmul(p_attn, value); {}return {}
? you returned nothing in its place
+ out || (out,) || [out]
- out, None || p_attn, out || [out, p_attn]
? `output` at .* got nan; .*all of it is NaN
+ out * math.nan, p_attn || out.log() * 0 / 0, p_attn || (p_attn - p_attn) / 0 @ value, p_attn
- out[..., 1:2, :] = math.nan; out, p_attn || out * 2, p_attn || out, p_attn
? `output` at .* got nan; .*rows are NaN, the same in each matrix
+ out[..., 1:2, :] = math.nan; out, p_attn || out[..., :2, :] = out[..., :2, :] * math.nan; out, p_attn
+ torch.cat([out[..., :1, :], out[..., 1:, :] / 0 * 0], -2), p_attn
- out[:1, 1:2] = math.nan; out, p_attn || out * math.nan, p_attn || out, p_attn
? `output` at .* got nan; .*rows? (is|are) NaN, different ones in each matrix
+ out[:1, 1:2] = math.nan; out, p_attn || out[:1] = math.nan; out, p_attn || out[0, ..., 0, :] = math.nan; out, p_attn
- out[..., 1:2, :] = math.nan; out, p_attn || out[..., 1:2] = math.nan; out, p_attn || out * math.nan, p_attn
? `output` at .* got nan; .*numbers (is|are) NaN, not whole rows
+ out[..., 1:2] = math.nan; out, p_attn || out[..., 1:2, 1:2] = math.nan; out, p_attn
+ torch.where(out > 1, math.nan, out), p_attn
- out[..., 1:2, :] = math.nan; out, p_attn || torch.where(out > 1, math.inf, out), p_attn || out * math.nan, p_attn
? `output` at .* got nan; .*of 4 rows (is|are) NaN: 0
+ out[..., 1:2, :] = math.nan; out, p_attn || out[1:2] = math.nan; out, p_attn
+ out[..., 2:, :] = math.nan; out, p_attn
- out[..., 1:2] = math.nan; out, p_attn || out if out.dim() < 3 else out * math.nan, p_attn || out * math.nan, p_attn
? called with one tensor as several arguments, your output is wrong.*With different tensors it is right
+ value if key is value else out, p_attn || out * (1 + (query.data_ptr() == value.data_ptr())), p_attn
+ out + 1 if torch.equal(query, key) else out, p_attn
- out.clone() if key is value else out, p_attn || out * (1 + (query.shape == value.shape)), p_attn
- out + 1 if query is mask else out, p_attn
? ^`weights` must be 0 at .* which is masked; yours is .* masked weights are not 0
+ -1e9 => -1.0 || out, p_attn + 1e-9 || .masked_fill(mask == 0, -1e9) =>
- out, p_attn * 2 || -1e9 => -math.inf || out, p_attn * math.nan
? ^of `weights`, .* NaN
+ out, p_attn * math.nan || out, torch.where(p_attn > 0, p_attn, math.nan)
+ out, torch.where(p_attn < p_attn.amax(-1, keepdim=True), p_attn, math.nan)
- out * math.nan, p_attn || -1e9 => -1.0 || out, p_attn * math.inf if mask is None else p_attn
? ^`output` is NaN or infinite at
+ -1e9 => -math.inf || out / 0, p_attn || out.log(), p_attn
- -1e9 => -1e300 || out * 1e9, p_attn || -1e9 => -5.0
? ^where a masked key has the highest score of its row, your output is wrong: `output` at
+ scores.masked_fill(mask == 0, -1e9) => scores + (mask == 0) * -10.0 || -1e9 => -3.0
+ .masked_fill(mask == 0, -1e9) => .clamp(max=1).masked_fill(mask == 0, -1e3)[..., :, :] * 1e-3
- scores.masked_fill(mask == 0, -1e9) => scores + (mask == 0) * -1e30
- p_attn = p_attn * (1 if mask is None else mask); p_attn @ value, p_attn || -1e9 => -math.inf
? ^with the keys of `key`, `value` in reverse order, `output` at .* expected
+ F.softmax(scores, => F.softmax(scores * torch.arange(scores.shape[-1]),
+ F.softmax(scores, => F.softmax(scores[..., :1] + 0 * scores + scores.roll(1, -1), || out + value[..., :1, :1], p_attn
- out * 2, p_attn || / math.sqrt(d_k) =>  || out + value.mean(-2, keepdim=True), p_attn
= causal_weights/right_plain
@ return torch.softmax(masked / math.sqrt(d_k), dim=-1)
> out = torch.softmax(masked / d_k**0.5, -1); {}return {}
? ^changing `scores` at keys \d must not change `weights` at queries \d; yours changes by up to
+ masked / => scores / || diagonal=1 => diagonal=2 || -torch.inf => -3.0
- math.sqrt(d_k) => d_k || -torch.inf => -1e9 || diagonal=1 => diagonal=0
? ^changing `scores` at keys \d must change `weights` at queries \d, which attends to it; yours does not change
+ bool() => bool() | torch.ones(T, T).tril(-2).bool() || torch.eye(T, dtype=out.dtype).expand(out.shape)
+ (out > 0) / (out > 0).sum(-1, keepdim=True)
- masked / => scores / || math.sqrt(d_k) => d_k || out * 2
? ^`weights` contains NaN, so its attention pattern cannot be checked
+ diagonal=1 => diagonal=0 || out * torch.nan || out.tril() / (out > 0)
- masked / => scores / || diagonal=1 => diagonal=2 || out * 2
? ^after `scores` was changed, `weights` contains NaN
+ out * (torch.nan if scores.abs().max() > 3 else 1) || out + 0 * (3 - scores.abs()).sqrt()
+ torch.where(scores.abs() > 3, torch.nan, out)
- out * torch.nan || out * (2 if scores.abs().max() > 3 else 1) || diagonal=1 => diagonal=0
? ^`weights` at .* must add up to 1; yours adds up to
+ out * 2 || (out > 0.3) * out || out + 0.1
- out.roll(1, -1) || masked / => scores / || out + 0
? out of range in half precision; use float
+ -torch.inf => -1e9 || -torch.inf => -1e5 || -torch.inf => torch.finfo(torch.bfloat16).min
- -torch.inf => torch.finfo(scores.dtype).min || -torch.inf => -6e4 || math.sqrt(d_k) => d_k
= causal_mask/right_triu_full
@ return torch.triu
> {}return {}
? ^`mask` at .* must be -inf, because it is masked; yours is
+ float("-inf") => -1e9 || diagonal=1 => diagonal=2 || float("-inf") => 0.0
- diagonal=1 => diagonal=0 || diagonal=1) => diagonal=1) + 1 || torch.triu => 1 * torch.triu
? ^`mask` at .* is not masked, so it must not be -inf; yours is -inf
+ diagonal=1 => diagonal=0 || ), diagonal=1) => ) * 1) || diagonal=1 => diagonal=-1
- diagonal=1 => diagonal=2 || diagonal=1) => diagonal=1) + 1 || float("-inf") => -1e9
? ^`mask` must be float64, PyTorch's default while your code runs; yours is
+ diagonal=1) => diagonal=1).half() || diagonal=1) => diagonal=1) < 0 || diagonal=1) => diagonal=1).long()
- diagonal=1) => diagonal=1).double() || diagonal=1) => diagonal=1) * 2 || diagonal=1) => diagonal=1)[None]
= padding_mask/right_not_equal_view
@ torch.ne(seq, pad_idx)
> {}({})
? ^`mask` at .* must be False, because it is masked; yours is True
+ torch.ones_like(seq).bool() || torch.ne(seq, pad_idx + 1) || torch.ge(seq, -99)
- torch.gt(seq, pad_idx) || (torch.ne(seq, pad_idx) & (seq > 0)) || torch.zeros_like(seq).bool()
? ^`mask` at .* is not masked, so it must not be False; yours is False
+ torch.gt(seq, pad_idx) || (torch.ne(seq, pad_idx) & (seq > 0)) || torch.zeros_like(seq).bool()
- torch.ones_like(seq).bool() || ~torch.eq(seq, pad_idx) || torch.ne(seq, -99)
? ^`mask` must be bool; yours is
+ torch.ne(seq, pad_idx).long() || torch.ne(seq, pad_idx).half() || torch.ne(seq, pad_idx).double()
- torch.ne(seq, pad_idx).long().bool() || torch.eq(seq, pad_idx) || torch.ge(seq, pad_idx)
= self_attention_parameters/right_plain
@ return attn_weights @ values
> out = attn_weights @ values; {}return {}
? where the input is float64 and torch's default dtype is float32: .*Error: .* Give what you create the dtype
+ out @ torch.eye(out.shape[-1]) || torch.addmm(torch.zeros(out.shape), attn_weights, values)
+ torch.einsum('te,ed->td', out, torch.eye(out.shape[-1]))
- out @ torch.eye(out.shape[-1], dtype=x.dtype) || torch.addmm(torch.zeros_like(out), attn_weights, values)
- out @ torch.eye(99)
? in training mode, which must not change the output, your output is wrong.*In evaluation mode it is right
+ out * (1 + self.training) || torch.dropout(out, 0.2, self.training)
+ out + 0.1 * torch.rand(1).item() if self.training else out
- torch.dropout(out, 0.0, self.training) || torch.dropout(out, 0.2, True) || out if self.training else 2 * out
? in evaluation mode all gradients are there, but in a later call, in training mode, no gradient reaches
+ out.detach() if self.training else out || attn_weights.detach() @ values if self.training else out
+ attn_weights @ (x @ self.W_value.data) if self.training else out
- out.detach() || out.clone() if self.training else out || out if self.training else out.detach()
? ^ValueError: invalid literal .* \(in your constructor, line 8\)
+ super().__init__() => super().__init__(); int('no')
+ super().__init__() => super().__init__(); d_in > 3 and int('no')
+ super().__init__() => super().__init__(); d_out == 13 and int('no')
- super().__init__() => super().__init__(); d_in > 99 and int('no') || int('no')
- super().__init__() => super().__init__(no)
= attention_dropout/right_rand_and_where
@ kept = torch.rand_like(weights) >= p
> u = torch.rand_like(weights); {}kept = {}
? ^with `training = False` your output is wrong
+ not training or => not training and (weights := weights * 2) is not None or || not training or =>
+ not training or p => training or p
- weights / (1 - p) => weights || u < 2 || if not training => if not training is True
? training mode must drop (elements|attention weights)(.*); yours dropped none$
+ weights / (1 - p), 0.0) => weights, weights) || or p == 0 => or p < 1
+ torch.where(kept, weights / (1 - p), 0.0) => weights * 1
- u < 2 || weights / (1 - p) => weights || u > p
? ^kept .* must be multiplied by 1/\(1 - p\) = .*; yours are multiplied by
+ weights / (1 - p) => weights || weights / (1 - p) => weights / p || weights / (1 - p) => 2 * weights
- u >= p / 2 || weights / (1 - p) => weights * torch.rand_like(weights) || weights / (1 - p) => weights * (1 / (1 - p))
? about .*% of .* must be dropped; yours dropped
+ u >= p / 2 || u >= 1 - p || u >= p**2
- weights / (1 - p) => weights || u < 1 - p || u >= u.mean(-1, keepdim=True) * 0 + p
? in training mode your output cannot result from dropping some
+ weights / (1 - p) => weights * torch.rand_like(weights) || weights / (1 - p) => weights + 1e-3
+ weights / (1 - p), 0.0) => weights / (1 - p), 0.1 * weights)
- weights / (1 - p) => weights || u >= p / 2 || u < 1 - p
? in training mode your output is nonzero where it must be zero
+ return torch.where => return 0.1 + torch.where || weights / (1 - p), 0.0) => weights / (1 - p), 1.0)
+ weights / (1 - p) => (weights + 1e-2) / (1 - p)
- weights / (1 - p) => weights || weights / (1 - p) => weights * torch.rand_like(weights) || u > p
? ^two calls in training mode drop the same elements
+ u = torch.rand(u.shape, generator=torch.Generator().manual_seed(0)); u >= p
+ torch.manual_seed(0); torch.rand_like(weights) >= p
+ u = attention_dropout.__dict__.setdefault(str(u.shape), u); u >= p
- u[..., :1] + 0 * u >= p || u = torch.rand(u.shape); u >= p || u < 2
? ^elements that differ only along .* are dropped together
+ (u[..., :1] >= p).expand(u.shape) || (u[..., :1, :] >= p).expand(u.shape) || (u[:1] >= p).expand(u.shape)
- u.flip(-1) >= p || u >= p / 2 || (u.roll(1, -2) >= p).expand(u.shape)
? ^along key the same number of elements is always dropped
+ u.argsort(-1) >= round(p * u.shape[-1]) || u.argsort(-1) < round((1 - p) * u.shape[-1])
+ u > u.kthvalue(max(1, round(p * u.shape[-1])), -1, keepdim=True).values
- u.argsort(-1).div(u.shape[-1]) * 0 + u >= p || u < 1 - p || u >= p / 2
? ^nothing is ever dropped at index 0 along
+ kept = u >= p; kept[..., 0] = True; kept || kept = u >= p; kept[..., 0, :] = True; kept
+ (u >= p) | (torch.arange(u.shape[-1]) == 0)
- kept = u >= p; kept[..., 0, 0] = True; kept || u < 2 || u >= p
? ^elements that lie .* apart are not drawn independently
+ u = u[..., ::2].repeat_interleave(2, -1)[..., : u.shape[-1]]; u >= p
+ torch.where(torch.arange(u.shape[-2])[:, None] % 3 > 1, u.roll(1, -2), u) >= p
+ torch.cat([u[..., :1, :].roll(i, -1) for i in range(u.shape[-2])], -2) >= p
- u.flip(-1) >= p || u >= p / 2 || torch.cat([u, 1 - u], -1)[..., : u.shape[-1]] >= p
? ^in training mode, `gradient of weights` at .*Dropped elements pass on no gradient
+ weights / (1 - p), 0.0) => weights / (1 - p), 0.0).detach() + weights - weights.detach()
+ weights / (1 - p), 0.0) => weights + weights.detach() * p / (1 - p), 0.0)
+ weights / (1 - p), 0.0) => weights / (1 - p), weights - weights.detach())
- weights / (1 - p), 0.0) => weights, 0.0) / (1 - p) || weights / (1 - p), 0.0) => weights / (1 - p), 0.0).detach()
- weights / (1 - p) => weights
? ^in training mode, no gradient reaches `weights`
+ weights / (1 - p), 0.0) => weights / (1 - p), 0.0).detach() || weights / (1 - p) => weights.data / (1 - p)
+ weights = weights.detach(); u >= p
- not training or => not training and (weights := weights.detach()) is not None or || (u >= p).detach() || u < 2
= multi_head_attention_causal/right_plain
@ assert d_out % num_heads == 0
> {}{}
? your constructor must raise an error; yours accepts this$
+ print || assert d_out >= num_heads || assert num_heads % 1 == 0
- assert not d_out % num_heads || assert (d_out // num_heads) * num_heads == d_out || assert False
? ^in training mode, the gradient of `W_query`.* does not fit the weights that your dropout dropped
+ self.dropout(attn_weights) => self.dropout(attn_weights).detach() + attn_weights - attn_weights.detach()
+ self.dropout(attn_weights) => attn_weights + (self.dropout(attn_weights) - attn_weights).detach()
+ self.dropout(attn_weights) => 1.0 * (d := self.dropout(attn_weights)) + (attn_weights - attn_weights.detach())
- self.dropout(attn_weights) => torch.dropout(attn_weights, self.dropout.p, self.training)
- self.dropout(attn_weights) => self.dropout(attn_weights).detach() || self.dropout(attn_weights) => attn_weights
? ^because your constructor raises for every configuration$
+ assert False || assert num_heads < 0 || int('no')
- print || assert d_out < 99 || assert num_heads < 5
? ^because your output in evaluation mode is wrong, so the grader cannot tell which elements were dropped
+ self.dropout(attn_weights) => attn_weights * torch.rand_like(attn_weights)
+ self.dropout(attn_weights) => self.dropout(attn_weights) + 0.1
+ self.dropout(attn_weights) => self.dropout(attn_weights + 1) - 0.5
- self.dropout(attn_weights) => attn_weights || self.dropout(attn_weights) => 2 * self.dropout(attn_weights)
- self.dropout(attn_weights) => attn_weights * (torch.rand_like(attn_weights) if self.training else 1)
= multiplicative_attention/right_match_and_closures
@ raise ValueError(f"unknown method {method!r}")
> {}{}
? your module must raise a ValueError; yours accepts this
+ self.score = lambda h, s: h.sum(-1) || self.score = lambda h, s: s[:, :1] + h.sum(-1)
+ self.score = lambda h, s: h[..., 0]
- raise ValueError || raise KeyError(method) || assert method
? your module must raise a ValueError; yours raised
+ raise KeyError(method) || assert not method || self.score = missing
- raise UnicodeError || self.score = lambda h, s: h.sum(-1) || raise type('Unknown', (ValueError,), {})(method)
= learned_encoding/right_embedding
@ nn.init.normal_(self.position_embeddings.weight, mean=0.0, std=0.02)
> w = self.position_embeddings.weight; {}{}
? must be initialised with standard deviation 0.02; yours contains NaN or infinity
+ nn.init.constant_(w, torch.nan) || nn.init.constant_(w, float('inf')) || w.data[3, 1] = torch.nan
- pass || nn.init.constant_(w, 1e9) || w.data *= 0.02
? must be initialised with standard deviation 0.02; over its .* numbers, yours has
+ pass || nn.init.zeros_(w) || w.data *= 0.04
- w.data *= 0.02 || nn.init.normal_(w, 0.01, 0.02) || nn.init.trunc_normal_(w, std=0.02)
? must be initialised with mean 0; over its .* numbers, yours has mean
+ nn.init.normal_(w, 0.01, 0.02) || nn.init.normal_(w, -1, 0.02) || w.data.mul_(0.02).add_(0.005)
- pass || nn.init.constant_(w, 1) || w.data *= 0.02
= sinusoidal_encoding/right_plain_attribute
@ self.pe = pe
> {}self.pe = {}
? ^your module must have no parameters here; `parameters.*` lists
+ nn.Parameter(pe) || nn.Parameter(pe, False) || self.more = nn.Linear(2, 2); pe
- pe.requires_grad_() || pe * 2 || self.pe = => self.register_buffer('pe', pe); self.other =
= rotary_encoding/right_step_by_step
@ now, out = step**offset, []
> {}now, out = {}, []
? ^scores between offsets 1 and 4 must equal those between 4 and 7; yours differ
+ step**(offset**2) || step**offset * (1 + offset) || z = z + offset; step**offset
- step**(2 * offset) || step**-offset || step**0
? ^scores between offsets 1 and 4 must differ from those between 1 and 7; yours are the same
+ step**0 || step**(offset % 3) || step**min(offset, 1)
- step**(2 * offset) || step**(offset % 2) || step**(offset + 1)
= linear_attention/right_cumulative_sums
@ q, k = F.elu(query) + 1, F.elu(key) + 1
> q, k = F.elu(query) + 1, F.elu(key) + 1; {}{}
? ^no tensor of the forward pass may have as many as .* elements; your largest has
+ q @ k.mT || torch.zeros(q.shape[2] ** 2) || torch.einsum('bhtd,bhsd->bhts', q, k)
- q.mT @ k || torch.zeros(q.shape[2], 5) || q = q * 2 + 1
? ^because your numbers are wrong in this case and right in others, so what is held here says nothing
+ value = value * (1 + (q.shape[2] > 100)) || q = q + (q.shape[2] == 200) || value = value.roll(q.shape[2] // 200, 2)
- value = value * 2 || q = q + 0 || q @ k.mT; value = value * (1 + (q.shape[2] > 100))
? the sizes of your tensors could not be measured
+ m = torch.utils._python_dispatch; m._get_current_dispatch_mode() and m._pop_mode()
+ m = torch.utils._python_dispatch; m._get_current_dispatch_mode() and m._pop_mode(); q @ k.mT
+ m = torch.utils._python_dispatch; q @ k.mT; m._get_current_dispatch_mode() and m._pop_mode()
- q @ k.mT || torch.utils._python_dispatch._get_current_dispatch_mode() || q = q * 2
= attention_patterns/right_plain
@ return found
> first = next(model.parameters()); {}{}; return found
? ^your code leaves .* hooks, replaced methods or modules in the model
+ handle.remove() => pass || model.forward = lambda x: x || model.register_forward_pre_hook(lambda m, i: None)
- model.eval() || return found => return found[::-1] || model(tokens).sum().backward()
? ^your code changes .* parameters of the model
+ first.data += 1 || [p.data.mul_(0.5) for p in model.parameters()]
+ model.load_state_dict({n: p * 2 for n, p in model.state_dict().items()})
- first.data += 0 || first.clone().data += 1 || model.eval()
? ^your code leaves .* modes .* or settings of PyTorch changed
+ model.eval() || model.layers[0].eval() || torch.set_default_dtype(torch.float16)
- was = [(m, m.training) for m in model.modules()]; model.eval(); [setattr(m, 'training', w) for m, w in was]
- handle.remove() => pass || model.requires_grad_(False)
? ^your code leaves a gradient in .* parameters
+ model(tokens).sum().backward() || first.grad = first * 1 || sum(p.sum() for p in model.parameters()).backward()
- model(tokens).sum().backward(); model.zero_grad() || model(tokens).sum() || model.requires_grad_(False)
? ^after your code, .* parameters are frozen, or gradients are still disabled
+ model.requires_grad_(False) || torch.set_grad_enabled(False) || first.requires_grad = False
- model.requires_grad_(False); model.requires_grad_(True) || model.eval() || model(tokens).sum().backward()
? is `\w+`; yours says (`\w+`|something else)\. \d+ of \d+ are wrong
+ >= 0.5 => >= 2 || rows - 1 => rows - 2 || "previous": w => "next": w
- >= 0.5 => > 0.49999999 || return found => return found[::-1] || return names => return names[:-1]
"""


@cache
def _prepared(name: str) -> tuple[Exercise, Sheet, Truth]:
    exercise = read_exercise(ROOT / "exercises" / name)
    sheet = draw_up(exercise, 1)
    once = observe_reference(exercise, sheet.plan)
    return exercise, sheet, lambda plan: once if plan is sheet.plan else observe_reference(exercise, plan)


@cache
def _told(answer: str, edit: tuple[str, str]) -> list[str]:
    """Return what the checks say of a right answer after an edit."""
    name, _, stem = answer.partition("/")
    exercise, sheet, truth = _prepared(name)
    source = (exercise.folder / "examples" / f"{stem}.py").read_text(encoding="utf-8")
    run = partial(InlineBox().run, limits=Limits())
    outcome = attempt(sheet, change(source, edit), run, truth, known=exercise.attempts)
    return [judged.finding.message for judged in outcome.judged]


@pytest.mark.parametrize("trial", [pytest.param(one, id=f"{one.pattern} {one.edit[1]}") for one in trials(_TABLE)])
def test_a_message_is_told_where_it_is_true_and_nowhere_near(trial: Trial) -> None:
    """Some check says it, or none does."""
    told = _told(trial.answer, trial.edit)

    assert any(re.search(trial.pattern, one) for one in told) is trial.is_true, [one for one in told if one]


def test_each_message_has_three_answers_of_either_kind() -> None:
    """Some have more; none has fewer."""
    counted = Counter((trial.pattern, trial.is_true) for trial in trials(_TABLE))

    assert {key: count for key, count in counted.items() if count < 3} == {}
    assert len(counted) == 2 * len({pattern for pattern, _ in counted})


def _lost(steps: slice, loss: float) -> str:
    """Return what is said of a training that loses `loss` in some of its 100 steps, and little in the others."""
    curve = torch.full((100,), 0.01)
    curve[steps] = loss
    return learning.judge(learning.COPYING, "loss", curve=curve).message


def _said(name: str, check: str, wrong: Callable[[Tensor], Tensor]) -> str:
    """Return what is said of a trained model that gets some of the tokens wrong, the others right."""
    target = tensor(learning.line(name, check).case, "held_target")
    return learning.judge(name, check, said=torch.where(wrong(target), target % 7 + 3, target)).message


@cache
def _doubted(first: int, factor: float, odd: float = 0.0) -> str:
    """Return what is said where a loss of the first steps is told wrong, or the output in a share of the cases."""
    item = learning.line(learning.COPYING, "loss")
    call = training_calls(item.case)[0]
    told = learning.honest().observed.calls[call.name].slots[call.outputs[0].key].tensor
    assert told is not None
    found = learning.claimed(call, call.outputs[0], torch.where(torch.arange(10) == first, told * factor, told))
    cases = [one for one in found.plan.untrained().calls if variant_of(one.name) == "base"]
    calls = dict(found.observed.calls)
    for one in cases[: round(odd * len(cases))]:
        calls[one.name] = replace(calls[one.name], slots={})
    known = partial(islice, learning.lab(learning.COPYING).attempts(), 2)  # more of them only take longer
    evidence = replace(found, observed=replace(found.observed, calls=calls), known=known)
    return checks()["loss"].judge(item, evidence).message


def _one_in(count: int, target: Tensor) -> Tensor:
    return torch.arange(target.numel()).view_as(target) % count == 0


def _padding(target: Tensor) -> Tensor:
    return target == PAD


def _long(target: Tensor) -> Tensor:
    """Return the tokens of sentences that are longer than any in training."""
    longest = (tensor(learning.line(*_BLEU).case, "source") != PAD).sum(dim=-1).max()
    return ((target != PAD).sum(dim=1, keepdim=True) > longest).expand(target.shape)


_COPY = (learning.COPYING, "accuracy")
_BLEU = (learning.TRANSLATING, "bleu")
_NAN_STEPS = (slice(40, 41), slice(0, 1), slice(None))
_FIRST, _LATER, _UNLIKE = (
    tuple(partial(_doubted, step, factor) for step, factor in ((0, 1.001), (0, 0.5), (0, 1.0001))),
    tuple(partial(_doubted, step, factor) for step, factor in ((1, 1.001), (9, 1.001), (5, 0.1))),
    tuple(partial(_doubted, 0, 1.0, odd) for odd in (1.0, 0.9, 0.8)),
)
_TRAINED: dict[str, tuple[tuple[Callable[[], str], ...], tuple[Callable[[], str], ...]]] = {
    "^the loss became NaN or infinite while your attention was trained": (
        tuple(partial(_lost, steps, math.nan) for steps in _NAN_STEPS),
        tuple(partial(_lost, steps, 30.0) for steps in _NAN_STEPS),
    ),
    "^after 100 steps the loss must be .* or less; it went from": (
        tuple(partial(_lost, slice(start, None), 1.0) for start in (0, 90, 95)),
        (partial(_lost, slice(99, None), 1.0), partial(_lost, slice(90), 1.0), partial(_lost, slice(0, 1), math.nan)),
    ),
    "^the trained model must predict 95% of the unseen tokens correctly; it predicts": (
        tuple(partial(_said, *_COPY, partial(_one_in, count)) for count in (1, 2, 10)),
        (
            partial(_said, *_COPY, partial(_one_in, 99)),
            partial(_said, *_COPY, _padding),
            partial(_lost, slice(None), 9.0),
        ),
    ),
    "^the trained translator must reach a BLEU of 80; it reaches": (
        tuple(partial(_said, *_BLEU, partial(_one_in, count)) for count in (1, 2, 5)),
        tuple(partial(_said, *_BLEU, wrong) for wrong in (partial(_one_in, 99), _padding, _long)),
    ),
    "loss in step 1 is .*, yours was .*; first make the output of your attention right": (_FIRST, _LATER),
    "loss in step .* is .*, yours was .*; the output .* is right in step 1, so check its gradients": (_LATER, _FIRST),
    "^the output of your attention is that of the one which is trained in only .*% of the cases": (
        _UNLIKE,
        (partial(_doubted, 0, 1.0), partial(_doubted, 0, 1.0, 0.5), _FIRST[0]),
    ),
}


@pytest.mark.parametrize(
    ("message", "judge", "is_true"),
    [
        pytest.param(message, judge, is_true, id=f"{message} {number} {is_true}")
        for message, groups in _TRAINED.items()
        for is_true, judges in zip((True, False), groups, strict=True)
        for number, judge in enumerate(judges)
    ],
)
def test_a_message_about_a_training_is_told_where_it_is_true_and_nowhere_near(
    message: str, judge: Callable[[], str], is_true: bool
) -> None:
    """What was lost and answered is made up; it takes a training to make it otherwise."""
    told = judge()

    assert bool(re.search(message, told)) is is_true, told
