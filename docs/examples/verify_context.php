<?php
/** The claims of a proof for this product, or null. $keySet: TOLLGATE_CONTEXT_JWKS, decoded as arrays. */
function verifyContext(string $token, array $keySet, string $product): ?array
{
    $parts = explode('.', $token);
    if (count($parts) !== 3) return null;
    $decode = fn(string $text): string => (string) base64_decode(strtr($text, '-_', '+/'), true);
    foreach ($keySet['keys'] as $jwk) {
        $header = rtrim(strtr(base64_encode('{"alg":"EdDSA","typ":"JWT","kid":"' . $jwk['kid'] . '"}'), '+/', '-_'), '=');
        if ($jwk['kty'] !== 'OKP' || $parts[0] !== $header) continue;
        $signature = $decode($parts[2]);
        if (strlen($signature) !== SODIUM_CRYPTO_SIGN_BYTES) return null;
        if (!sodium_crypto_sign_verify_detached($signature, "$parts[0].$parts[1]", $decode($jwk['x']))) return null;
        $claims = json_decode($decode($parts[1]), true);
        $isOurs = ($claims['iss'] ?? '') === 'tollgate' && ($claims['aud'] ?? '') === $product;
        return $isOurs && time() <= ($claims['exp'] ?? 0) + 5 ? $claims : null;
    }
    return null;
}
