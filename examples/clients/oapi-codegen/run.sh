#!/bin/sh
# Generates a client from the OpenAPI document with oapi-codegen, compiles it and runs it. Needs Go. TENANTRY_URL is the service,
# TENANTRY_KEY the API key of the operator.
set -eu

mkdir -p gen
curl -fsS "$TENANTRY_URL/openapi.json" > openapi.json
GOBIN="$PWD/bin" go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
bin/oapi-codegen -config oapi-codegen.yaml openapi.json
go mod tidy
go build -o scenario .
./scenario
