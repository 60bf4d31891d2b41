"""Triton's interpreter, in a fifth of its time: it looks through its language for every function that a kernel calls."""

import functools
import inspect
from contextlib import contextmanager

import numpy as np
import triton.language as tl
from libmode._device import calls
from triton.runtime import interpreter


@contextmanager
def once():
    """Inside, the interpreter replaces the functions of a module of its language once; afterwards they are as before.

    Programs have many events at a time. NumPy does not warn: kernels divide for events and bins that do not count, too.
    """
    replace, scopes, done = interpreter._patch_lang, [], set()
    tensor, shape_of = tl.tensor.__init__, functools.cache(lambda shape: tl.tuple([tl.constexpr(s) for s in shape]))

    def replace_once(function):
        languages = {id(value) for value in function.__globals__.values() if inspect.ismodule(value)} & {
            id(tl),
            id(tl.core),
        }
        if not languages <= done:
            done.update(languages)
            scopes.append(replace(function))
        return interpreter._LangPatchScope()

    def make_tensor(self, handle, type):
        tl.core.base_value.__init__(self)
        shape = tuple(type.shape) if type.is_block() else ()
        self.handle, self.type, self.dtype = handle, type, type.scalar
        self.shape, self.numel = shape_of(shape), tl.constexpr(functools.reduce(int.__mul__, shape, 1))

    interpreter._patch_lang, tl.tensor.__init__ = replace_once, make_tensor
    warns, block, calls.BLOCK = np.seterr(all="ignore"), calls.BLOCK, 256
    try:
        yield
    finally:
        np.seterr(**warns)
        calls.BLOCK = block
        interpreter._patch_lang, tl.tensor.__init__ = replace, tensor
        for scope in reversed(scopes):
            scope.restore()
