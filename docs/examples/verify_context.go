package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

type KeySet struct {
	Keys []struct{ Kty, Kid, X string }
}

type Claims struct {
	Iss, Aud, Sub, Key, Product, Mode, IP, Jti string
	SubID                                      string `json:"sub_id"`
	Day                                        *string
	Iat, Exp                                   int64
}

// VerifyContext answers the claims of a proof for this product, or nil. keySet: TOLLGATE_CONTEXT_JWKS.
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
		header := `{"alg":"EdDSA","typ":"JWT","kid":"` + key.Kid + `"}`
		public, bad := decode(key.X)
		if key.Kty != "OKP" || bad != nil || len(public) != ed25519.PublicKeySize || parts[0] != base64.RawURLEncoding.EncodeToString([]byte(header)) {
			continue
		}
		var claims Claims
		if !ed25519.Verify(public, []byte(parts[0]+"."+parts[1]), signature) || json.Unmarshal(payload, &claims) != nil {
			return nil
		}
		if claims.Iss == "tollgate" && claims.Aud == product && time.Now().Unix() <= claims.Exp+5 {
			return &claims
		}
	}
	return nil
}
