"""Verifies Ed25519 signatures (RFC 8032), with nothing but Python. It is for examples: a library that is written in C is a hundred times
as fast (`cryptography`, `PyNaCl`)."""
import hashlib

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def decode(data):
    """Returns a point as (x, y), or None if the 32 bytes are none (5.1.3)."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P != 0 or (x == 0 and sign == 1):
        return None
    return (P - x if x % 2 != sign else x), y


def extend(point):
    x, y = point
    return x, y, 1, x * y % P


def add(one, other):
    """Adds two points in extended coordinates (5.1.4)."""
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * D * one[3] * other[3] % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(factor, point):
    result = (0, 1, 1, 0)
    while factor > 0:
        if factor & 1:
            result = add(result, point)
        point, factor = add(point, point), factor >> 1
    return result


BASE = extend(decode(bytes.fromhex("58" + "66" * 31)))


def verify(public_key, message, signature):
    """Whether a signature of 64 bytes is that of a message, by the key of 32 bytes (5.1.7)."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key, start = decode(public_key), decode(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or start is None or scalar >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    factor = int.from_bytes(digest, "little") % ORDER
    left, right = multiply(scalar, BASE), add(extend(start), multiply(factor, extend(key)))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0
