# Without a library: the signature of Standard Webhooks.
import base64
import hashlib
import hmac
import time


def is_from_tollgate(secret, headers, body):
    """headers: by lower-case name; body: the bytes that came"""
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isascii() or not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{event_id}.{timestamp}.".encode() + body
    wanted = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(signature, wanted) for signature in signatures)
