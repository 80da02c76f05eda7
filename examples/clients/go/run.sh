#!/bin/sh
# Generates a client from the bundle with protoc, compiles it and runs it. Needs Go, and Debian's protobuf-compiler and
# libprotobuf-dev or a newer protoc. TENANTRY_URL is the service, TENANTRY_KEY the API key of the operator.
set -eu

mkdir -p protos gen
curl -fsS "$TENANTRY_URL/protos.tar.gz" | tar xz -C protos

export GOBIN="$PWD/bin" PATH="$PWD/bin:$PATH"
go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2

protoc -I protos \
  --go_out=gen --go_opt=module=tenantry.dev/go \
  --go-grpc_out=gen --go-grpc_opt=module=tenantry.dev/go \
  protos/iam/v1alpha/*.proto protos/resources/v1alpha/*.proto

(cd gen && go mod init tenantry.dev/go && go get google.golang.org/grpc@v1.85.0 \
  buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go@v1.36.12-20260825204119-511051f7f437.1 && go mod tidy)
go mod tidy
go build -o scenario .
./scenario
