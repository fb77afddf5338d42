"""A job with Google's SDK in managed mode, as a program of its own: tests run it with the clients' Python.

Replaced is what lies outside a hub: where the API is, who vouches for the caller, and Cloud Logging. It
prints what it was told, one JSON object a line.
"""

# No import of ours: this runs where only the clients are installed.
import argparse
import json
import os
import signal
import sys
import time
from typing import Any

import google.auth
import google.oauth2.credentials
from google_cloud_mldiagnostics import machinelearning_run
from google_cloud_mldiagnostics.clients import control_plane_client, logging_client

PROJECT, REGION = "demo-proj", "us-central1"


def say(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


class NoLogs:
    def __init__(self, *_values: object, **_named: object) -> None:
        pass

    def __getattr__(self, _name: str) -> object:
        return lambda *_values, **_named: None


def lead_to(url: str, token: str) -> None:
    """Makes the SDK talk to a hub."""
    make: Any = google.oauth2.credentials.Credentials
    credentials = make(token)
    google.auth.default = lambda **_named: (credentials, PROJECT)
    logging_client.LoggingClient = NoLogs
    as_it_was = control_plane_client.ControlPlaneClient.__init__

    def initialize(self: Any, *values: object, **named: object) -> None:
        as_it_was(self, *values, **named)
        place = self.ml_runs_path.removeprefix(self.base_url)
        self.base_url = f"{url}/v1alpha"
        self.ml_runs_path = f"{self.base_url}{place}"

    control_plane_client.ControlPlaneClient.__init__ = initialize


def capture(session: str) -> None:
    import jax.numpy
    from google_cloud_mldiagnostics import xprof

    profiler = xprof()
    profiler.start(session_id=session)
    jax.numpy.ones((64, 64)).dot(jax.numpy.ones((64, 64))).block_until_ready()
    say(capturing=session)
    profiler.stop()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("name")
    parser.add_argument("--token", default="none")
    parser.add_argument("--root", required=True, help="where the run's profiles go")
    parser.add_argument("--workload", default=None, help="makes hosts, and starts, one run")
    parser.add_argument("--end", choices=["normal", "raise", "wait", "die"], default="normal")
    parser.add_argument("--capture", default="", help="name of a session to capture")
    options = parser.parse_args()
    lead_to(options.url, options.token)
    run = machinelearning_run(
        name=options.name,
        run_group="grp A",
        configs={"epochs": 3},
        gcs_path=options.root,
        project=PROJECT,
        region=REGION,
        run_workload_id=options.workload,
        metrics_record_interval_sec=0,
    )
    say(run=run.name)
    if options.capture:
        capture(options.capture)
    if options.end == "raise":
        raise RuntimeError("the job has failed")
    if options.end == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if options.end == "wait":
        sys.stdin.readline()
    time.sleep(0.1)
    say(done=True)


if __name__ == "__main__":
    main()
