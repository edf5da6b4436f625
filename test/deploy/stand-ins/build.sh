#!/usr/bin/env bash
# Makes images under the names that docker-compose.yml uses, on an engine that reaches no registry: Debian by debootstrap, PostgreSQL and
# Redis from Debian, Node.js from this machine (NODE_BINARY) and the local gateway in place of Kong. For tests of the compose file only.
# Needs root, debootstrap, npm and a Docker engine (DOCKER_HOST).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
debian=${DEBIAN_STAND_IN:-debian:bookworm-slim}
node=${NODE_IMAGE:-node:24-bookworm-slim}

has() { docker image inspect "$1" >/dev/null 2>&1; }

if ! has "$debian"; then
  debootstrap --variant=minbase --include=ca-certificates bookworm "$work/debian"
  tar -C "$work/debian" -c . | docker import - "$debian"
fi

if ! has "$node"; then
  mkdir "$work/node"
  cp "$(readlink -f "${NODE_BINARY:-$(command -v node)}")" "$work/node/node"
  cp -rL "$(npm root --global)/npm" "$work/node/npm"
  # Authorities that this machine trusts besides the public ones, such as a company's proxy.
  cp /etc/ssl/certs/ca-certificates.crt "$work/node/"
  cat > "$work/node/Dockerfile" <<DOCKER
FROM $debian
COPY ca-certificates.crt /etc/ssl/certs/
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
DOCKER
  docker build --quiet --tag "$node" "$work/node"
fi

docker build --quiet --tag "${POSTGRES_IMAGE:-postgres:17}" --build-arg "DEBIAN=$debian" "$here/postgres"
docker build --quiet --tag "${REDIS_IMAGE:-redis:7.4}" --build-arg "DEBIAN=$debian" "$here/redis"
docker build --quiet --tag "${TOLLGATE_IMAGE:-tollgate:local}" --build-arg "NODE_IMAGE=$node" "$root"
docker build --quiet --tag "${KONG_IMAGE:-kong:3.9}" --build-arg "TOLLGATE_IMAGE=${TOLLGATE_IMAGE:-tollgate:local}" "$here/kong"
