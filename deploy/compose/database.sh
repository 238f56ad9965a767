#!/bin/sh
# PostgreSQL's first start: an ordinary user who owns the database, so that row-level security holds for him.
set -eu
psql --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres \
  --set password="$(cat "${DATABASE_PASSWORD_FILE:-/run/secrets/database_password}")" <<'SQL'
CREATE ROLE proctor LOGIN PASSWORD :'password';
CREATE DATABASE proctor OWNER proctor ENCODING 'UTF8' TEMPLATE template0;
SQL
