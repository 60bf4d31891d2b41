"""MoDe by kernels of Triton on the GPU of the tensors, in the stages of the core.

The host reads nothing, and shapes depend on no value. One call of ``fit`` merges bins for the other kernels.
"""
