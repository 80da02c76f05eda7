"""Verifies access tokens as a service would that calls of others reach: with the public keys, without asking. TENANTRY_URL is the
service, TENANTRY_KEY the API key of the operator."""

import json
import os
import time
import urllib.request

import jwt

URL = os.environ["TENANTRY_URL"]


class Verifier:
    """Knows the service from its metadata (RFC 8414), and reads its keys when a token names one that is not known yet."""

    def __init__(self, url):
        with urllib.request.urlopen(f"{url}/.well-known/oauth-authorization-server") as response:
            metadata = json.load(response)
        self.issuer = metadata["issuer"]
        self.keys = jwt.PyJWKClient(metadata["jwks_uri"])

    def verify(self, token, audience):
        """Returns the claims of a valid token. Fails with jwt.PyJWTError for any other."""
        if jwt.get_unverified_header(token).get("typ") != "at+jwt":
            raise jwt.InvalidTokenError("not an access token (RFC 9068)")
        return jwt.decode(
            token,
            self.keys.get_signing_key_from_jwt(token),
            algorithms=["ES256", "RS256", "EdDSA"],
            issuer=self.issuer,
            audience=audience,
            options={"require": ["exp", "iat", "iss", "aud", "sub"]},
        )


def issue_token(**body):
    """Exchanges the API key for an access token."""
    request = urllib.request.Request(
        f"{URL}/iam/v1alpha/tokens:issue",
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {os.environ['TENANTRY_KEY']}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["access_token"]


def change_signature(token):
    signed, signature = token.rsplit(".", 1)
    return f"{signed}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"


def expect_refusal(error, token, audience):
    try:
        verifier.verify(token, audience)
    except error:
        return
    raise AssertionError(f"no {error.__name__}")


verifier = Verifier(URL)
token = issue_token()
claims = verifier.verify(token, verifier.issuer)
assert claims["scope"] == "*", claims
expect_refusal(jwt.InvalidSignatureError, change_signature(token), verifier.issuer)
expect_refusal(jwt.InvalidAudienceError, token, "https://billing.example.com")

brief = issue_token(lifetime="1s")
time.sleep(max(0, jwt.decode(brief, options={"verify_signature": False})["exp"] - time.time()))
expect_refusal(jwt.ExpiredSignatureError, brief, verifier.issuer)
print("tokens-python: all is well")
