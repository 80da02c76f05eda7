#!/bin/sh
# Generates a client from the OpenAPI document with openapi-generator, installs it and uses it. Needs Python 3.10 or newer, Java and
# Maven. TENANTRY_URL is the service, TENANTRY_KEY the API key of the operator.
set -eu

curl -fsS "$TENANTRY_URL/openapi.json" > openapi.json
mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy \
  -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory=. -Dmdep.stripVersion=true
# The quick compiler of the JVM, which suits a program that runs for seconds.
export JAVA_TOOL_OPTIONS="-XX:TieredStopAtLevel=1 -Dlog.level=error"
java -jar openapi-generator-cli.jar generate --input-spec openapi.json --generator-name python --output gen --config config.yaml

python3 -m venv venv
venv/bin/pip install --quiet -r gen/requirements.txt
venv/bin/python -m compileall -q gen scenario.py
PYTHONPATH=gen venv/bin/python scenario.py
