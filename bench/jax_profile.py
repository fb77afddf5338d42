"""Writes a profile of JAX on the CPU, of the kind that people have when they look for what is slow.

    python bench/jax_profile.py FOLDER [--steps 92]

A compiled loop of small operations, and gradients that are traced anew in every step, so that Python's stack
is deep and the trace has many rows. Needs jax, which is no dependency of this project: run it with a Python
that has it. 92 steps make about 70 MB.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

DEFAULT_STEPS = 92
_CELLS_PER_STEP = 20
_GRADIENTS_PER_STEP = 4


def capture(folder: Path, steps: int = DEFAULT_STEPS) -> Path:
    """Profiles some steps; the profile, moved into `folder`.

    Raises:
        ImportError: jax is not installed.
    """
    import jax
    import jax.numpy as jnp

    def cell(state: jax.Array, weights: jax.Array) -> jax.Array:
        mixed = jnp.tanh(state @ weights) + 0.1 * jnp.cos(state)
        return jnp.sort(mixed / (1.0 + jnp.abs(mixed).max(axis=-1, keepdims=True)), axis=-1)

    def cells(state: jax.Array, weights: jax.Array) -> jax.Array:
        last, _ = jax.lax.scan(
            lambda carry, _: (cell(carry, weights), None), state, None, length=_CELLS_PER_STEP
        )
        return last

    forward = jax.jit(cells)
    gradient = jax.grad(lambda weights, state: cell(state, weights).sum())
    state, weights = jnp.ones((8, 16)), jnp.full((16, 16), 0.01)

    def step(number: int) -> None:
        nonlocal state
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            state = forward(state, weights)
            for _ in range(_GRADIENTS_PER_STEP):
                gradient(weights, state).block_until_ready()

    step(0)
    with tempfile.TemporaryDirectory() as raw:
        with jax.profiler.trace(raw):
            for number in range(steps):
                step(number)
        (written,) = Path(raw).glob("plugins/profile/*/*.xplane.pb")
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / written.name
        shutil.move(written, target)
    return target


def main() -> None:
    """Reads the command line and captures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=DEFAULT_STEPS)
    arguments = parser.parse_args()
    written = capture(arguments.folder, arguments.steps)
    print(f"{written}: {written.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
