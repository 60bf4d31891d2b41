"""MoDe by kernels of Triton on the GPU of the tensors, in the stages of the core.

    plan.py   the options of the kernels, and why a call goes to the core
    loss.py   the kernels: which events take part, bins, the matrix of the fit, and the gradient along the scores
    layer.py  the kernels of the push: ranks, the smooth residual, the law with its state, and the gradient that goes on
    calls.py  their launches

Nothing is read on the host, and shapes depend on no value. A call of ``fit`` merges bins for all.
"""
