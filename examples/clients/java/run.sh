#!/bin/sh
# Generates a client from the bundle with Maven, compiles it and runs it. Needs Java 17 and Maven. TENANTRY_URL is the service,
# TENANTRY_KEY the API key of the operator.
set -eu

# The quick compiler of the JVM, which suits a program that runs for seconds.
export MAVEN_OPTS="-XX:TieredStopAtLevel=1"

mkdir -p protos
curl -fsS "$TENANTRY_URL/protos.tar.gz" | tar xz -C protos
mvn --quiet --batch-mode compile exec:java
