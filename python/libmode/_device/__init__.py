"""The MoDe loss and its gradient by array operations alone, for arrays that stay on their device.

Sorts, cumulative sums, sums over segments and gathers, of shapes that do not depend on the values; nothing is
read on the host. It is written once, over the dozen operations in which PyTorch and JAX differ (arrays.py). A call goes
this way:

    plan.py       the options, and those that there are not here
    loss.py       the losses of the labels and variables, added up
    selection.py  which events take part, and whether their values are good
    bins.py       the bins of the masses; merging.py makes one of those that have too few events
    moments.py    P and A of the bins
    ordered.py    the events in order of score, their ties, and running sums
    linear.py     by how much each event changes J, where no moment is bounded
    bounded.py    the same where some are: bound.py has c~, bias.py what unbiased subtracts

The formulas are those of core/doc.go. With d_i, by how much event i changes J, the loss is
scale * sum_i d_i (high - s_i), and the gradient -scale * d_i. No two values of J are ever subtracted.
"""
