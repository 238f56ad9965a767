#!/bin/sh
# What the official image does at its first start: a cluster with the password of a file, then every script, then the server.
set -eu
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
as() { setpriv --reuid postgres --regid postgres --init-groups "$@"; }
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  install --directory --owner postgres --group postgres --mode 0700 "$PGDATA"
  as initdb --pgdata "$PGDATA" --username postgres --pwfile "$POSTGRES_PASSWORD_FILE" ${POSTGRES_INITDB_ARGS:-}
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  as pg_ctl --pgdata "$PGDATA" --wait --options "-c listen_addresses=''" start
  for script in /docker-entrypoint-initdb.d/*.sh; do as sh "$script"; done
  as pg_ctl --pgdata "$PGDATA" --wait --mode fast stop
fi
exec setpriv --reuid postgres --regid postgres --init-groups "$(command -v postgres)" -D "$PGDATA" -c listen_addresses='*'
