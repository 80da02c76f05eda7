#!/bin/sh
# Generates types from the OpenAPI document with openapi-typescript, compiles a client that uses them and runs it. Needs Node.js
# 22.18 or newer, which runs TypeScript. TENANTRY_URL is the service, TENANTRY_KEY the API key of the operator.
set -eu

npm install --no-audit --no-fund --loglevel=error
npx openapi-typescript "$TENANTRY_URL/openapi.json" --output tenantry.ts
npx tsc
node scenario.ts
