<?php
/** The claims of a proof for this product, or null. $keySet: TOLLGATE_CONTEXT_JWKS or TOLLGATE_CONTEXT_KEYS, decoded as arrays. */
function verifyContext(string $token, array $keySet, string $product): ?array
{
    $parts = explode('.', $token);
    if (count($parts) !== 3) return null;
    $decode = fn(string $text): string => (string) base64_decode(strtr($text, '-_', '+/'), true);
    foreach ($keySet['keys'] as $jwk) {
        $alg = ['OKP' => 'EdDSA', 'oct' => 'HS256'][$jwk['kty']] ?? '';
        $isForUs = $alg === 'EdDSA' || ($alg === 'HS256' && strpos($jwk['kid'], "$product.") === 0);
        $header = rtrim(strtr(base64_encode('{"alg":"' . $alg . '","typ":"JWT","kid":"' . $jwk['kid'] . '"}'), '+/', '-_'), '=');
        if (!$isForUs || $parts[0] !== $header) continue;
        [$text, $signature] = ["$parts[0].$parts[1]", $decode($parts[2])];
        $isSigned = $alg === 'HS256'
            ? hash_equals(hash_hmac('sha256', $text, $decode($jwk['k']), true), $signature)
            : strlen($signature) === SODIUM_CRYPTO_SIGN_BYTES && sodium_crypto_sign_verify_detached($signature, $text, $decode($jwk['x']));
        if (!$isSigned) return null;
        $claims = json_decode($decode($parts[1]), true);
        $isOurs = ($claims['iss'] ?? '') === 'tollgate' && ($claims['aud'] ?? '') === $product;
        return $isOurs && time() <= ($claims['exp'] ?? 0) + 5 ? $claims : null;
    }
    return null;
}
