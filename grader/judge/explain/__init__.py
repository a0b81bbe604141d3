"""What explains a wrong answer: the known mistake, or the line where it begins to differ from the reference.

The words of this package:

    step          a function of the reference, as mistakes replace them
    node          one tensor that a step gives: step, turn (which call of it), part (of a tuple); see `exercise.steps`
    trace         the results of all operations of the answer on one call, with their lines
    tensor        of the answer: a traced result, or an argument
    replay        a run of the reference whose steps are watched, with other numbers in the place of some nodes
    arrangement   the same numbers with axes permuted, merged, split, or of length one
    alignment     the answer beside the reference on one call: which tensor is which node
    matched       a node that the answer has; exact: without doubt; confirmed: matched, or needed for that
    downstream    of a node: those that change when it does
    substitution  tensors of the answer in the places of a step's nodes
    divergence    the first substitution that is shown to give what the answer has
    symptom       what is wrong besides numbers: an exception, a shape, kept state, NaN
    probe         a wrong call on which known mistakes are tried
    effort, work  what is counted, so that a search ends; see `budget`

`diagnosis` names mistakes. `location` says where: `alignment` and `search` compare numbers, `symptoms` and `gradients`
look at the rest, and `wording` says it.
"""
