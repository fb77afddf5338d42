# One image for the front end and the worker; which of them runs is the command's business.
#   docker build -t xprof-hub .
#   docker run xprof-hub serve --only worker

# A tag, so that building again brings the system's latest corrections (docs/adr/049-the-image-is-executed.md). For
# one exact base, or one from your own registry: --build-arg BASE=REGISTRY/python:3.13-slim-bookworm@sha256:...
# checkov:skip=CKV_DOCKER_7: it does not look into the argument, which names a version (tests/contract/test_dockerfile.py)
ARG BASE=python:3.13-slim-bookworm

# ---- everything that is needed to install, and stays behind
FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1
WORKDIR /build

# The application's packages, from the lock with their hashes. They change less often than the code.
COPY requirements-demo.lock ./
RUN python -m venv --without-pip /opt/xprof-hub \
    && python -m pip --python /opt/xprof-hub/bin/python install --require-hashes -r requirements-demo.lock

# What builds the wheel goes into this stage's own Python, not into the application's environment.
COPY requirements-build.lock ./
RUN python -m pip install --require-hashes -r requirements-build.lock
COPY pyproject.toml README.md LICENSE ./
COPY auth/ auth/
COPY loader/ loader/
COPY server/ server/
RUN python -m pip wheel --no-deps --no-build-isolation --wheel-dir dist . \
    && python -m pip --python /opt/xprof-hub/bin/python install --no-deps --no-index dist/*.whl \
    && XPROF_HUB_ASSET_CACHE=/opt/xprof-hub/assets /opt/xprof-hub/bin/xprof-hub compress-assets

# ---- what runs
FROM ${BASE}
LABEL org.opencontainers.image.title="XProf Hub" \
      org.opencontainers.image.description="Open an XProf profile by a link" \
      org.opencontainers.image.licenses="Apache-2.0"

RUN python -m pip uninstall --yes pip \
    && useradd --system --uid 10001 --user-group --no-create-home --home-dir /var/lib/xprof-hub xprof-hub \
    && install --directory --owner=10001 --group=10001 --mode=0700 /var/lib/xprof-hub
COPY --from=build /opt/xprof-hub /opt/xprof-hub

# The image is for a deployment: without a secret, a database and real authentication it refuses to start.
ENV PATH=/opt/xprof-hub/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    XPROF_HUB_ENVIRONMENT=production \
    XPROF_HUB_AUTH=token \
    XPROF_HUB_HOST=0.0.0.0 \
    XPROF_HUB_PORT=8080 \
    XPROF_HUB_ASSET_CACHE=/opt/xprof-hub/assets \
    DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA=true \
    XPROF_HUB_DATA_DIR=/var/lib/xprof-hub

USER 10001:10001
WORKDIR /var/lib/xprof-hub
EXPOSE 8080
# It is the hub itself that gets the signal: it finishes what it is doing (XPROF_HUB_STOP_SECONDS).
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ['XPROF_HUB_PORT'] + '/healthz', timeout=4)"]
ENTRYPOINT ["xprof-hub"]
CMD ["serve"]

# Last, because they change with every build: --build-arg VERSION=0.1.0 --build-arg REVISION=$(git rev-parse HEAD)
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.version=${VERSION} \
      org.opencontainers.image.revision=${REVISION}
