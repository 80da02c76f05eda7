"""Verifies JSON Web Signatures (RFC 7515) in the compact form, with nothing but Python: ES256, RS256 and EdDSA (Ed25519).

Signatures, keys and what is signed are all public here, so it does not matter that these take different times.
"""
import base64
import hashlib
import json


def decode(text):
    """Returns the bytes of base64url without padding."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def number(text):
    return int.from_bytes(decode(text), "big")


def verify(jws, keys, kind):
    """Returns what a signature says, if it is of that type and one of the keys has made it. Raises ValueError otherwise."""
    try:
        header_text, payload, signature = jws.split(".")
        header = json.loads(decode(header_text))
        algorithm, key_id = header["alg"], header["kid"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError("it is no JSON Web Signature") from error
    if header.get("typ") != kind:
        raise ValueError(f"its type is not {kind}")
    key = next((each for each in keys if each.get("kid") == key_id), None)
    if key is None:
        raise ValueError(f"its key {key_id} is not among the keys")
    check = CHECKS.get(algorithm)
    if check is None or key.get("alg") != algorithm:
        raise ValueError(f"its algorithm {algorithm} is not that of its key")
    if not check(key, f"{header_text}.{payload}".encode("ascii"), decode(signature)):
        raise ValueError(f"its signature is not that of its key {key_id}")
    return json.loads(decode(payload))


def is_rs256(key, message, signature):
    """RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017, 8.2.2)."""
    modulus, exponent = number(key["n"]), number(key["e"])
    size = (modulus.bit_length() + 7) // 8
    prefix = bytes.fromhex("3031300d060960864801650304020105000420")
    digest = prefix + hashlib.sha256(message).digest()
    expected = b"\x00\x01" + b"\xff" * (size - len(digest) - 3) + b"\x00" + digest
    value = int.from_bytes(signature, "big")
    return len(signature) == size and value < modulus and pow(value, exponent, modulus) == int.from_bytes(expected, "big")


# The curve P-256 (SP 800-186, 3.2.1.3): y^2 = x^3 - 3x + b.
P = 2**256 - 2**224 + 2**192 + 2**96 - 1
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
BASE = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def add(one, other):
    """Adds points of P-256; None is the point at infinity."""
    if one is None or other is None:
        return other if one is None else one
    (x1, y1), (x2, y2) = one, other
    if x1 == x2 and (y1 + y2) % P == 0:
        return None
    slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, P) if one == other else (y2 - y1) * pow(x2 - x1, -1, P)
    x = (slope * slope - x1 - x2) % P
    return x, (slope * (x1 - x) - y1) % P


def multiply(factor, point, plus=add, zero=None):
    result = zero
    while factor:
        if factor & 1:
            result = plus(result, point)
        point, factor = plus(point, point), factor >> 1
    return result


def is_es256(key, message, signature):
    """ECDSA with P-256 and SHA-256 (RFC 7518, 3.4; FIPS 186-5, 6.4.2)."""
    point = number(key["x"]), number(key["y"])
    x, y = point
    if key.get("crv") != "P-256" or max(point) >= P or (y * y - x**3 + 3 * x - B) % P != 0 or len(signature) != 64:
        return False
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if not (0 < r < ORDER and 0 < s < ORDER):
        return False
    inverse = pow(s, -1, ORDER)
    digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
    found = add(multiply(digest * inverse % ORDER, BASE), multiply(r * inverse % ORDER, point))
    return found is not None and found[0] % ORDER == r


# The curve of Ed25519 (RFC 8032, 5.1), its points as x and y.
Q = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, Q) % Q


def recover(encoded):
    """Returns the point of 32 bytes. Raises ValueError for bytes of none."""
    y = int.from_bytes(encoded, "little")
    sign, y = y >> 255, y & ((1 << 255) - 1)
    square = (y * y - 1) * pow(D * y * y + 1, -1, Q) % Q
    x = pow(square, (Q + 3) // 8, Q)
    if (x * x - square) % Q != 0:
        x = x * pow(2, (Q - 1) // 4, Q) % Q
    if y >= Q or (x * x - square) % Q != 0 or (x == 0 and sign):
        raise ValueError("it is no point of the curve")
    return (x if x & 1 == sign else Q - x), y


def add_edwards(one, other):
    (x1, y1), (x2, y2) = one, other
    product = D * x1 * x2 * y1 * y2 % Q
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, Q)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, Q)
    return x % Q, y % Q


def is_eddsa(key, message, signature):
    """Ed25519 (RFC 8032, 5.1.7)."""
    public = decode(key["x"])
    if key.get("crv") != "Ed25519" or len(public) != 32 or len(signature) != 64:
        return False
    s = int.from_bytes(signature[32:], "little")
    try:
        point, commitment = recover(public), recover(signature[:32])
    except ValueError:
        return False
    base = recover((4 * pow(5, -1, Q) % Q).to_bytes(32, "little"))
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
    zero = (0, 1)
    left = multiply(s, base, add_edwards, zero)
    return s < L and left == add_edwards(commitment, multiply(challenge, point, add_edwards, zero))


CHECKS = {"ES256": is_es256, "RS256": is_rs256, "EdDSA": is_eddsa}
