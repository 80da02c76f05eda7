#!/bin/sh
# Receives the events of an event stream that is pushed, and verifies them with PyJWT and the public keys of the service. Needs Python 3.9
# or newer. TENANTRY_URL is the service, TENANTRY_KEY the API key of the operator, TENANTRY_ORG the name of the org to create. The
# service may deliver to 127.0.0.1 (TENANTRY_WEBHOOK_NETWORKS).
set -eu

python3 -m venv venv
venv/bin/pip install --quiet -r requirements.txt
venv/bin/python scenario.py
