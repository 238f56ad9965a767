#!/usr/bin/env bash
# Makes the logs of the folder above anew, with the tools themselves: bash make_logs.sh (needs uv, node and the package indexes).
# What a log says of a machine (tracebacks, hashes of hosts) is taken out of the copy of Inspect's JSON by hand.
set -euo pipefail
cd "$(dirname "$0")"
out=$(mktemp -d)
uv venv -q "$out/venv"
uv pip install -q --python "$out/venv/bin/python" inspect-ai==0.3.285 lm-eval==0.4.13 openai aiohttp tenacity tiktoken
cp ./* "$out/"
cd "$out"
venv/bin/python capitals_inspect.py inspect
venv/bin/lm_eval --model dummy --tasks capitals_gen,capitals_mc --include_path . --output_path lm-eval --log_samples
npm install --ignore-scripts promptfoo@0.123.1
PROMPTFOO_DISABLE_TELEMETRY=1 npx promptfoo eval -c promptfooconfig.yaml -o promptfoo.json --no-progress-bar --no-table || true
echo "The logs are in $out: inspect/, lm-eval/ and promptfoo.json."
