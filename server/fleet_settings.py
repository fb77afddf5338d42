"""The settings of many processes that serve together; part of `server.settings.Settings`.

How they find and trust each other, how they begin and end, what each may take, and what they tell of
themselves.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings, NoDecode

from server.people_settings import split_list

Keys = Annotated[str | tuple[str, ...], NoDecode, AfterValidator(split_list)]


class FleetSettings(BaseSettings):
    """How a process lives among others of its kind."""

    old_secret_keys: Keys = ()
    """Other values of the secret key that are accepted: the next one before it is used anywhere, the former
    one until nothing made with it is in use. All processes need the same in each step."""
    worker_identity: Literal["none", "google"] = "none"
    """`google`: front ends also send workers an identity token of their service account, in the header
    `X-Serverless-Authorization`, so that Cloud Run can check who calls."""
    redis_replica_url: str = ""
    """A read replica that is asked for an answer when the first Redis is slow to give it. Empty: the first
    one is asked again, over another connection."""
    migrate: bool = True
    """Whether a front end brings the database up to date when it starts; else `xprof-hub migrate` has to."""
    database_connections: int = Field(default=30, ge=1, le=1000)
    """Most connections of one process to PostgreSQL."""
    most_waiting: int = Field(default=100, ge=0)
    """Conversions that may wait for a turn in one worker; who comes then is told at once to come back."""
    stop_seconds: float = Field(default=5.0, ge=0, le=3600)
    """How long a process goes on with what it is doing after it was told to end. A worker then hands
    its conversions over to others, which takes up to three more seconds."""
    keep_alive_seconds: int = Field(default=75, ge=1, le=3600)
    """How long an idle connection stays open: longer than whatever stands in front keeps it."""
    metrics_port: int = Field(default=0, ge=0, le=65535)
    """A port of their own for the metrics, on the same address; 0: they are at `/metrics` like all else."""
    google_project: str = ""
    """Project whose Cloud Logging reads the log: lines then have its field names for severity and trace."""
    otlp_endpoint: str = ""
    """Where spans of requests and conversions are sent, `http://collector:4318`. Empty: nowhere."""
    trace_fraction: float = Field(default=0.05, ge=0, le=1)
    """Share of requests whose spans are sent, unless the caller's `traceparent` says."""
