const { createHmac, createPublicKey, timingSafeEqual, verify } = require('node:crypto');

/** The claims of a proof for this product, or undefined. keySet: the parsed TOLLGATE_CONTEXT_JWKS or TOLLGATE_CONTEXT_KEYS. */
function verifyContext(token, keySet, product) {
  const [header, payload, signature, ...more] = String(token ?? '').split('.');
  const isOurs = ({ kty, kid }) => kty === 'OKP' || (kty === 'oct' && kid.startsWith(`${product}.`));
  const headerOf = ({ kty, kid }) =>
    Buffer.from(JSON.stringify({ alg: kty === 'OKP' ? 'EdDSA' : 'HS256', typ: 'JWT', kid })).toString('base64url');
  const jwk = keySet.keys.find((each) => isOurs(each) && headerOf(each) === header);
  if (!jwk || !payload || !signature || more.length > 0) return undefined;
  const isSigned = jwk.kty === 'OKP' ? isSignedByKey : isSignedBySecret;
  if (!isSigned(Buffer.from(`${header}.${payload}`), Buffer.from(signature, 'base64url'), jwk)) return undefined;
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  const isFresh = Date.now() / 1000 <= claims.exp + 5;
  return claims.iss === 'tollgate' && claims.aud === product && isFresh ? claims : undefined;
}

function isSignedByKey(text, signature, jwk) {
  return verify(null, text, createPublicKey({ key: jwk, format: 'jwk' }), signature); // the key is worth keeping between requests
}

function isSignedBySecret(text, signature, { k }) {
  const expected = createHmac('sha256', Buffer.from(k, 'base64url')).update(text).digest();
  return expected.length === signature.length && timingSafeEqual(expected, signature);
}

module.exports = { verifyContext };
