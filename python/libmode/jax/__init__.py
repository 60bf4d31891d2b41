"""The losses for JAX: functions that go through ``jit``, ``grad``, ``jvp`` and ``vmap``."""

from .._missing import needed

with needed("jax", by="libmode.jax", extra="jax"):
    from .loss import disco_loss, flatness_loss, mode_loss

__all__ = ["disco_loss", "flatness_loss", "mode_loss"]
