"""A training job with Google's SDK, as a program of its own: the tests run it with the clients' Python.

It knows nothing of XProf Hub but an address, and prints what it was told, one JSON object a line.
"""

# No import of ours: this runs where only the clients are installed.
import argparse
import json
import os
import signal
import time

from google_cloud_mldiagnostics import machinelearning_run


def say(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


def compute() -> None:
    import jax.numpy

    jax.numpy.ones((64, 64)).dot(jax.numpy.ones((64, 64))).block_until_ready()


def capture(session: str) -> None:
    from google_cloud_mldiagnostics import xprof

    profiler = xprof()
    profiler.start(session_id=session)
    compute()
    profiler.stop()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("name")
    parser.add_argument("--root", default=None, help="where the run's profiles go")
    parser.add_argument("--end", choices=["normal", "raise", "wait", "die"], default="normal")
    parser.add_argument("--process", type=int, default=0)
    parser.add_argument("--coordinator", default="", help="address; makes it one of two processes")
    parser.add_argument("--capture", default="", help="name of a session to capture")
    options = parser.parse_args()
    if options.coordinator:
        import jax

        jax.distributed.initialize(options.coordinator, 2, options.process)
    start = time.monotonic()
    run = machinelearning_run(
        name=options.name,
        base_url=options.url,
        gcs_path=options.root,
        metrics_record_interval_sec=0,
    )
    say(run=run.name, cluster=run.cluster_id, seconds=time.monotonic() - start)
    if options.capture:
        capture(options.capture)
    compute()
    if options.end == "raise":
        raise RuntimeError("the job has failed")
    if options.end == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if options.end == "wait":
        time.sleep(120)
    say(done=True)


if __name__ == "__main__":
    main()
