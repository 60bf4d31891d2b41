"""MoDe for JAX: functions that go through ``jit``, ``grad``, ``jvp`` and ``vmap``."""

from .._messages import needed

with needed("jax", by="libmode.jax", extra="jax"):
    from .._constraint import State
    from .._events import Events as Events  # libmode.torch has its page
    from .constraint import mode_constraint
    from .loss import mode_loss

__all__ = ["State", "mode_constraint", "mode_loss"]
