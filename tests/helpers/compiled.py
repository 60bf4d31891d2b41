"""Compiles the kernels of the device for GPUs that are not here: ``python tests/helpers/compiled.py``.

A call is made with tensors of the processor, and each of its launches compiles the kernel for these arguments, down to
the machine code of two GPUs. Nothing runs. Prints a line for each.
"""

import time

import torch
import triton
from libmode._device import calls
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import mangle_type

done = set()


def compile_in_place_of_running(kernel, _, arguments, constants):
    """Compiles a kernel for the types of arguments, once."""
    options = calls.settings(kernel, constants)
    names = [name for name in kernel.arg_names if name not in constants]
    given = dict(zip(names, arguments, strict=True))
    constants |= {name: None for name, value in given.items() if value is None}
    signature = {name: "constexpr" if name in constants else mangle_type(given[name]) for name in kernel.arg_names}
    key = kernel.fn.__name__, str(signature), str(constants)
    if key in done:
        return
    done.add(key)
    for capability in (80, 90):
        start = time.perf_counter()
        source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
        found = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
        assert len(found.asm["cubin"]) > 1000
        seconds = time.perf_counter() - start
        print(
            f"{key[0]} sm_{capability} {len(found.asm['ptx'])} bytes of PTX, {found.metadata.shared} shared, {seconds:.1f} s"
        )


def main():
    """Compiles for the options that change kernels."""
    calls.run = compile_in_place_of_running
    from libmode._device.plan import make_plan
    from libmode._events import Events
    from libmode._options import check

    score, mass, weight = torch.rand(3, 1000)
    label = torch.randint(0, 2, (1000,))
    for options, events in (
        ({"order": 1}, Events(score, mass=mass)),
        ({"order": 1}, Events(score, label, mass, weight)),
        ({"order": 3, "bins": 50, "unbiased": False}, Events(score.bfloat16(), label, mass.double(), weight.half())),
        ({"order": 0, "edges": [0, 0.2, 0.5, 1], "reduction": "sum"}, Events(score, label.float(), mass, weight)),
    ):
        plan = make_plan(check("mode", options).rounded_to(torch.float64, torch.float64))
        calls.loss_and_grad(plan, events, torch.float32)


if __name__ == "__main__":
    main()
