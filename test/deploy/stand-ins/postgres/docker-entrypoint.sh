#!/bin/sh
set -eu
if [ -n "${POSTGRES_PASSWORD:-}" ] && [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then
  echo "error: both POSTGRES_PASSWORD and POSTGRES_PASSWORD_FILE are set (but are exclusive)" >&2
  exit 1
fi
password=${POSTGRES_PASSWORD:-$(cat "${POSTGRES_PASSWORD_FILE:-/dev/null}")}
if [ -z "$password" ]; then
  echo "Error: Database is uninitialized and superuser password is not specified." >&2
  exit 1
fi
mkdir -p "$PGDATA"
chown -R postgres "$(dirname "$PGDATA")"
chmod 700 "$PGDATA"
as_postgres() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  printf '%s\n' "$password" > /tmp/password
  chown postgres /tmp/password
  # shellcheck disable=SC2086
  as_postgres initdb --username="$POSTGRES_USER" --pwfile=/tmp/password ${POSTGRES_INITDB_ARGS:-} >/dev/null
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "CREATE DATABASE \"$POSTGRES_DB\"" | as_postgres postgres --single -D "$PGDATA" postgres >/dev/null
fi
mkdir -p /var/run/postgresql && chown postgres /var/run/postgresql
exec setpriv --reuid postgres --regid postgres --clear-groups "$@" -c "listen_addresses=*"
