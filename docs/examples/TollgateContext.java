import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class TollgateContext {
  /** What stands before the 32 bytes of an Ed25519 key in X.509 (RFC 8410). */
  private static final String X509_HEAD = "302a300506032b6570032100";

  /** The claims of a proof for this product, or null. keySet: the parsed TOLLGATE_CONTEXT_JWKS or TOLLGATE_CONTEXT_KEYS. */
  static JsonObject verify(String token, JsonObject keySet, String product) {
    String[] parts = token.split("\\.", -1);
    if (parts.length != 3) return null;
    try {
      for (JsonElement element : keySet.getAsJsonArray("keys")) {
        JsonObject jwk = element.getAsJsonObject();
        String kid = jwk.get("kid").getAsString();
        boolean isPublic = jwk.get("kty").getAsString().equals("OKP");
        String header = "{\"alg\":\"" + (isPublic ? "EdDSA" : "HS256") + "\",\"typ\":\"JWT\",\"kid\":\"" + kid + "\"}";
        String wanted = Base64.getUrlEncoder().withoutPadding().encodeToString(header.getBytes(StandardCharsets.UTF_8));
        if (!parts[0].equals(wanted) || !(isPublic || kid.startsWith(product + "."))) continue;
        byte[] text = (parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII);
        byte[] signature = Base64.getUrlDecoder().decode(parts[2]);
        if (!(isPublic ? isSignedByKey(text, signature, jwk) : isSignedBySecret(text, signature, jwk))) return null;
        String payload = new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8);
        JsonObject claims = JsonParser.parseString(payload).getAsJsonObject();
        boolean isOurs = claims.get("iss").getAsString().equals("tollgate") && claims.get("aud").getAsString().equals(product);
        boolean isFresh = System.currentTimeMillis() / 1000 <= claims.get("exp").getAsLong() + 5;
        return isOurs && isFresh ? claims : null;
      }
    } catch (GeneralSecurityException | IllegalArgumentException refused) {
      return null;
    }
    return null;
  }

  private static boolean isSignedByKey(byte[] text, byte[] given, JsonObject jwk) throws GeneralSecurityException {
    Signature signature = Signature.getInstance("Ed25519");
    signature.initVerify(publicKey(jwk.get("x").getAsString()));
    signature.update(text);
    return signature.verify(given);
  }

  private static boolean isSignedBySecret(byte[] text, byte[] given, JsonObject jwk) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(Base64.getUrlDecoder().decode(jwk.get("k").getAsString()), "HmacSHA256"));
    return MessageDigest.isEqual(mac.doFinal(text), given);
  }

  private static PublicKey publicKey(String x) throws GeneralSecurityException {
    String bytes = HexFormat.of().formatHex(Base64.getUrlDecoder().decode(x));
    return KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(HexFormat.of().parseHex(X509_HEAD + bytes)));
  }
}
