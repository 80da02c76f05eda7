#!/bin/sh
# Generates a client from the bundle with grpcio-tools and runs it. Needs Python 3.9 or newer. TENANTRY_URL is the service,
# TENANTRY_KEY the API key of the operator.
set -eu

mkdir -p protos gen
curl -fsS "$TENANTRY_URL/protos.tar.gz" | tar xz -C protos

python3 -m venv venv
venv/bin/pip install --quiet -r requirements.txt

venv/bin/python -m grpc_tools.protoc -I protos \
  --python_out=gen --pyi_out=gen --grpc_python_out=gen \
  protos/iam/v1alpha/*.proto protos/resources/v1alpha/*.proto protos/buf/validate/*.proto

venv/bin/python -m compileall -q gen scenario.py
PYTHONPATH=gen venv/bin/python scenario.py

# The same code in a package, beside modules of the same names.
mkdir -p gen/tenantry_api
mv gen/iam gen/resources gen/tenantry_api
find gen/tenantry_api \( -name '*.py' -o -name '*.pyi' \) -exec \
  perl -pi -e 's/^(from|import) (?=(iam|resources)\.)/$1 tenantry_api./' {} +
echo 'OURS = True' | tee iam.py > resources.py
PYTHONPATH=gen venv/bin/python packaged.py
