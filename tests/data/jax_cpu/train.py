"""Trains two small models on the CPU and records a profile of it; README.md says how this is run."""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp

STEPS = 10
EVALUATE_EVERY = 5
Weights = dict[str, jax.Array]


def predict(weights: Weights, batch: jax.Array) -> jax.Array:
    """One hidden layer."""
    return jnp.tanh(batch @ weights["in"]) @ weights["out"]


def loss(weights: Weights, batch: jax.Array, labels: jax.Array) -> jax.Array:
    """Mean squared error."""
    return jnp.mean((predict(weights, batch) - labels) ** 2)


def train_step(weights: Weights, batch: jax.Array, labels: jax.Array) -> tuple[Weights, jax.Array]:
    """One step of gradient descent."""
    value, gradients = jax.value_and_grad(loss)(weights, batch, labels)
    changed = jax.tree.map(lambda old, slope: old - 0.01 * slope, weights, gradients)
    return changed, value


def eval_step(weights: Weights, batch: jax.Array, labels: jax.Array) -> jax.Array:
    """How far the model is off."""
    return loss(weights, batch, labels)


compiled_train_step = jax.jit(train_step)
compiled_eval_step = jax.jit(eval_step)


def run(weights: Weights, batch: jax.Array, labels: jax.Array, steps: int) -> None:
    """Trains, and looks now and then how good it is."""
    for step in range(steps):
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            weights, value = compiled_train_step(weights, batch, labels)
            value.block_until_ready()
        if step % EVALUATE_EVERY == EVALUATE_EVERY - 1:
            compiled_eval_step(weights, batch, labels).block_until_ready()


def main() -> None:
    """Warms up, so that the profile shows no compilation, then records."""
    key = jax.random.key(0)
    batch = jax.random.normal(key, (64, 128))
    labels = jax.random.normal(key, (64, 16))
    weights = {
        "in": jax.random.normal(key, (128, 256)) / 16,
        "out": jax.random.normal(key, (256, 16)) / 16,
    }
    run(weights, batch, labels, EVALUATE_EVERY)
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 1
    options.host_tracer_level = 2
    with jax.profiler.trace(sys.argv[1], profiler_options=options):
        run(weights, batch, labels, STEPS)


if __name__ == "__main__":
    main()
