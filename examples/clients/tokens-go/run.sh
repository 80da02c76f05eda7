#!/bin/sh
# Verifies access tokens with golang-jwt and the public keys of the service. Needs Go. TENANTRY_URL is the service, TENANTRY_KEY
# the API key of the operator.
set -eu

go mod tidy
go build -o verify .
./verify
