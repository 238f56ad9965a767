#!/usr/bin/env bash
# Makes every password, and a certificate for ORIGIN signed by itself, in deploy/compose/secrets. What is there stays.
# Put a certificate of your own into tls.pem (with its chain) and tls.key, and providers' keys into providers.env.
set -euo pipefail
umask 077
folder=${SECRETS:-$(dirname "$0")/secrets}
mkdir -p "$folder"
cd "$folder"

# Containers read these files as users of their own: the folder keeps others of this machine out.
keep() { if [ -e "$1" ]; then cat >/dev/null; else cat >"$1.new" && chmod 0444 "$1.new" && mv "$1.new" "$1"; fi; }
random() { openssl rand -hex 32 | tr -d '\n'; }

random | keep postgres_password
random | keep database_password
random | keep PROCTOR_SECRET
random | keep grafana_password
printf 'proctor' | keep AWS_ACCESS_KEY_ID
random | keep AWS_SECRET_ACCESS_KEY
printf 'postgresql://proctor:%s@database:5432/proctor' "$(cat database_password)" | keep PROCTOR_DATABASE_URL

broker=$(random)
printf 'bind * -::*\nappendonly yes\nmaxmemory-policy noeviction\nrequirepass %s\n' "$broker" | keep redis.conf
printf 'redis://:%s@redis:6379/0' "$(sed -n 's/^requirepass //p' redis.conf)" | keep PROCTOR_BROKER_URL
printf '{"identities": [{"name": "proctor", "credentials": [{"accessKey": "%s", "secretKey": "%s"}], "actions": ["Read:proctor", "Write:proctor", "List:proctor"]}]}\n' \
  "$(cat AWS_ACCESS_KEY_ID)" "$(cat AWS_SECRET_ACCESS_KEY)" | keep s3.json

if [ ! -e tls.pem ]; then
  name=${ORIGIN:-https://localhost:8443}
  name=${name#https://}
  name=${name%%[:/]*}
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj "/CN=$name" \
    -addext "subjectAltName=DNS:$name" -keyout tls.key.new -out tls.pem.new 2>/dev/null
  chmod 0444 tls.key.new tls.pem.new
  mv tls.key.new tls.key
  mv tls.pem.new tls.pem
fi
# Made by `proctor keys create` once the service runs: docs/operations/compose.md. A swarm takes no empty secret.
printf 'not-made-yet' | keep prometheus.key
printf '# OPENAI_API_KEY=…\n' | keep providers.env
chmod 0644 prometheus.key providers.env
echo "Secrets are in $(pwd)." >&2
