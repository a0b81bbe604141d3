"""Known mistakes that several exercises share, by the step of the reference that they replace.

A reference whose steps have these names and signatures can take over any of them as they are; one that calls a step
otherwise borrows them. `...` stands for any leading axes, batch or heads or neither.

    scores_of(queries, keys) -> scores      (..., T_q, d_k) and (..., T_k, d_k) to (..., T_q, T_k)      scores
    scale(scores, d_k) -> scores                                                                        scores
    normalise(scores) -> weights            each row to weights that add up to one                      weights
    mix(weights, values) -> context         (..., T_q, T_k) and (..., T_k, d_v) to (..., T_q, d_v)      weights
    hide_future(scores) -> scores           causal                                                      causal
    apply_mask(scores, mask) -> scores      mask None, or True or 1 where the query may attend          masks
    drop(weights, dropout) -> weights       dropout an nn.Dropout                                       dropouts
    split(x, num_heads) -> heads            (B, T, h*d) to (B, h, T, d)                                 heads
    merge(heads) -> x                       (B, h, T, d) to (B, T, h*d)                                 heads
    project(self, x) -> queries, keys, values                                                           projections
    weigh(self, queries, keys) -> weights                                                               causal
    gather(self, weights, values) -> context                                                            dropouts
    leave(self, context) -> output                                                                      heads

What only costs gradients is in `gradients`, whichever step it replaces. `cases` draws inputs that bring such mistakes
to light. The modules are content, and lie in `exercises/families/`, which is this package's folder.
"""

from grader.exercise import ROOT

__path__ = [str(ROOT / "exercises" / "families")]
