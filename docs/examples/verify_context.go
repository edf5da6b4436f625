package main

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

type Key struct{ Kty, Kid, X, K string }

type KeySet struct{ Keys []Key }

type Claims struct {
	Iss, Aud, Sub, Key, Product, Mode, IP, Jti string
	SubID                                      string `json:"sub_id"`
	Day                                        *string
	Iat, Exp                                   int64
}

// VerifyContext answers the claims of a proof for this product, or nil. keySet: TOLLGATE_CONTEXT_JWKS or TOLLGATE_CONTEXT_KEYS.
func VerifyContext(token string, keySet KeySet, product string) *Claims {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	decode := base64.RawURLEncoding.DecodeString
	payload, badPayload := decode(parts[1])
	signature, badSignature := decode(parts[2])
	if badPayload != nil || badSignature != nil {
		return nil
	}
	for _, key := range keySet.Keys {
		alg := map[string]string{"OKP": "EdDSA", "oct": "HS256"}[key.Kty]
		header := `{"alg":"` + alg + `","typ":"JWT","kid":"` + key.Kid + `"}`
		isOurs := key.Kty == "OKP" || strings.HasPrefix(key.Kid, product+".")
		if alg == "" || !isOurs || parts[0] != base64.RawURLEncoding.EncodeToString([]byte(header)) {
			continue
		}
		var claims Claims
		if !isSigned([]byte(parts[0]+"."+parts[1]), signature, key) || json.Unmarshal(payload, &claims) != nil {
			return nil
		}
		if claims.Iss == "tollgate" && claims.Aud == product && time.Now().Unix() <= claims.Exp+5 {
			return &claims
		}
		return nil
	}
	return nil
}

func isSigned(text, signature []byte, key Key) bool {
	if key.Kty == "OKP" {
		public, bad := base64.RawURLEncoding.DecodeString(key.X)
		return bad == nil && len(public) == ed25519.PublicKeySize && ed25519.Verify(public, text, signature)
	}
	secret, bad := base64.RawURLEncoding.DecodeString(key.K)
	mac := hmac.New(sha256.New, secret)
	mac.Write(text)
	return bad == nil && len(secret) >= 32 && hmac.Equal(mac.Sum(nil), signature)
}
