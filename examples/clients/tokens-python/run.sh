#!/bin/sh
# Verifies access tokens with PyJWT and the public keys of the service. Needs Python 3.9 or newer. TENANTRY_URL is the service,
# TENANTRY_KEY the API key of the operator.
set -eu

python3 -m venv venv
venv/bin/pip install --quiet -r requirements.txt
venv/bin/python verify.py
