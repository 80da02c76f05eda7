#!/bin/sh
# Calls the service with grpcurl, which reads the contract by reflection, with an API key and with an access token. Needs Go.
# TENANTRY_URL is the service, TENANTRY_KEY the API key of the operator, TENANTRY_ORG the name of the new Org.
set -eu

GOBIN="$PWD/bin" go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4
address=${TENANTRY_URL#http://}
key="authorization: Bearer $TENANTRY_KEY"

# Fails unless the output of a call contains a text.
expect() {
  grep -qF -- "$1" output || { echo "grpcurl: no $1 in:" >&2; cat output >&2; exit 1; }
}

bin/grpcurl -plaintext "$address" list > output
expect iam.v1alpha.MembersService
expect resources.v1alpha.ResourcesService
bin/grpcurl -plaintext "$address" describe google.rpc.BadRequest.FieldViolation > output
expect "string description = 2;"

bin/grpcurl -plaintext -H "$key" -d "{\"org\": {\"name\": \"$TENANTRY_ORG\"}}" \
  "$address" iam.v1alpha.OrgsService/CreateOrg > output
expect "\"path\": \"/orgs/$TENANTRY_ORG\""

bin/grpcurl -plaintext -H "$key" -d '{"start_session": true}' "$address" iam.v1alpha.TokensService/IssueToken > output
token="authorization: Bearer $(sed -n 's/.*"accessToken": "\([^"]*\)".*/\1/p' output)"
bin/grpcurl -plaintext -H "$token" -d "{\"path\": \"orgs/$TENANTRY_ORG\"}" "$address" iam.v1alpha.OrgsService/GetOrg > output
expect "\"name\": \"$TENANTRY_ORG\""

# The details of errors are messages, which grpcurl decodes because reflection knows google.rpc.
if bin/grpcurl -plaintext -H "$token" -d "{\"parent_path\": \"orgs/$TENANTRY_ORG\", \"member\": {\"name\": \"Dora\"}}" \
  "$address" iam.v1alpha.MembersService/CreateMember 2> output; then
  echo "grpcurl: a bad name was accepted" >&2
  exit 1
fi
expect "Code: InvalidArgument"
expect '"@type": "type.googleapis.com/google.rpc.ErrorInfo"'
expect '"reason": "FIELD_INVALID"'
expect '"@type": "type.googleapis.com/google.rpc.BadRequest"'
expect '"field": "member.name"'
expect '"@type": "type.googleapis.com/google.rpc.RequestInfo"'
echo "grpcurl: all is well"
