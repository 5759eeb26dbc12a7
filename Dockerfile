# The server with its page on the embedded catalog. Runs as any numeric user, on a read-only root with a writable /tmp,
# without a network.
FROM python:3.11.14-slim-bookworm

# ECOM_RLVE_HOST: inside a container its own loopback would reach nobody. What reaches the container is for whoever runs
# it to say: publish the port on loopback, as docker-compose.yml does, or set a token.
# ENABLE_WEB_INTERFACE is named, and off, so that `openenv push` does not insert its own page.
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp \
    PORT=8000 \
    ECOM_RLVE_HOST=0.0.0.0 \
    ECOM_RLVE_CACHE_DIR=/app/cache \
    ENABLE_WEB_INTERFACE=false

WORKDIR /app/env
COPY . .
RUN pip install --no-cache-dir --disable-pip-version-check '.[redis,server,web]' && rm -rf build ecom_rlve.egg-info
# The index of the embedded catalog, so that a container starts by mapping it instead of building it.
RUN python -c "import os, pathlib; from ecom_rlve.envs.world.shop import Shop; Shop.open('synthetic', pathlib.Path(os.environ['ECOM_RLVE_CACHE_DIR']))"

# A place for a volume that any user may write. Runs outlive the container with a volume here and
# ECOM_RLVE_STORE=/state/store.sqlite3, as in docker-compose.yml; else they are kept in /tmp.
RUN mkdir -m 1777 /state

USER 65532:65532
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ['PORT'] + '/health', timeout=4)"]
CMD ["server"]
