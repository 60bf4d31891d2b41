"""MoDe by kernels of Triton on the GPU of the tensors, in the stages of the core.

    plan.py   the options of the kernels, and which options they refuse
    loss.py   the kernels: which events take part, bins, the matrix of the fit, and the gradient along the scores
    calls.py  their launches

The host reads nothing, and shapes depend on no value. One call of ``fit`` merges bins for the other kernels.
"""
