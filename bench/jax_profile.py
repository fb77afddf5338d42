"""Writes a profile of JAX on the CPU, the kind that people have: many small operations in few threads.

    python bench/jax_profile.py FOLDER [--steps 490]

Needs jax, which is no dependency of this project: run it with a Python that has it. 490 steps make about
70 MB.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

_OPERATIONS_PER_STEP = 200


def capture(folder: Path, steps: int) -> Path:
    """Profiles some steps of a recurrent network; the profile, moved into `folder`.

    Raises:
        ImportError: jax is not installed.
    """
    import jax
    import jax.numpy as jnp

    def scan(state: jax.Array, weights: jax.Array) -> jax.Array:
        def cell(carry: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
            mixed = jnp.tanh(carry @ weights) + 0.1 * jnp.cos(carry)
            normal = mixed / (1.0 + jnp.abs(mixed).max(axis=-1, keepdims=True))
            return jnp.sort(normal, axis=-1), normal.sum()

        last, _ = jax.lax.scan(cell, state, None, length=_OPERATIONS_PER_STEP)
        return last

    train = jax.jit(scan)
    state, weights = jnp.ones((8, 16)), jnp.full((16, 16), 0.01)
    state = train(state, weights).block_until_ready()
    with tempfile.TemporaryDirectory() as raw:
        with jax.profiler.trace(raw):
            for number in range(steps):
                with jax.profiler.StepTraceAnnotation("train", step_num=number):
                    state = train(state, weights).block_until_ready()
        (written,) = Path(raw).glob("plugins/profile/*/*.xplane.pb")
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / written.name
        shutil.move(written, target)
    return target


def main() -> None:
    """Reads the command line and captures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=490)
    arguments = parser.parse_args()
    written = capture(arguments.folder, arguments.steps)
    print(f"{written}: {written.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
