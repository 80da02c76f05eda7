#!/bin/sh
# Generates a client from the bundle with buf, compiles it and runs it. Needs Node.js 22.18 or newer, which runs TypeScript.
# TENANTRY_URL is the service, TENANTRY_KEY the API key of the operator.
set -eu

[ -e node_modules ] || npm install
npx buf generate "$TENANTRY_URL/protos.tar.gz"
npx tsc
node scenario.ts
