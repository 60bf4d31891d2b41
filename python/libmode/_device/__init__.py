"""The MoDe loss by PyTorch's operations on the device of the tensors.

A launch costs more there than the work of a batch, so that few operations are what counts: shapes depend on no value,
nothing is read on the host, and what belongs together is a row of one tensor. A call goes this way:

    plan.py       the options that there are here, and why others go to the core
    constants.py  tensors that depend on the options alone, made once for each device
    events.py     the events as rows of one matrix, in which those that take no part are filled in
    sums.py       sums per bin and running sums, as a GPU is fast with many events
    bins.py       the bin of each event; bins with too few events become one with their neighbors
    moments.py    per bin, what a step across its events changes
    loss.py       the loss and its gradient, by running sums up to the middle of each event's tie

The formulas are those of core/doc.go, with steps e_i = -w_i/W_b: one comparison finds -W_b > 0 with all else.
"""
