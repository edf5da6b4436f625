# PyJWT with cryptography: pip install "pyjwt[crypto]", or Debian's python3-jwt and python3-cryptography.
import json
import jwt

ALGORITHMS = {"OKP": ("EdDSA", jwt.algorithms.OKPAlgorithm), "oct": ("HS256", jwt.algorithms.HMACAlgorithm)}


def verify_context(token, key_set, product):
    """The claims of a proof for this product, or None. key_set: the parsed TOLLGATE_CONTEXT_JWKS or TOLLGATE_CONTEXT_KEYS."""
    try:
        kid = jwt.get_unverified_header(token).get("kid")
        ours = [each for each in key_set["keys"] if each["kty"] == "OKP" or each["kid"].startswith(f"{product}.")]
        jwk = next(each for each in ours if each["kid"] == kid)
        algorithm, kind = ALGORITHMS[jwk["kty"]]
        key = kind.from_jwk(json.dumps(jwk))  # worth keeping between requests
        return jwt.decode(token, key, algorithms=[algorithm], issuer="tollgate", audience=product, leeway=5)
    except (jwt.PyJWTError, StopIteration, KeyError):
        return None
