/**
 * Milliseconds for which a listener keeps an idle connection. Longer than those who ask keep theirs (Kong and nginx 60 s, Caddy and HAProxy
 * less; Prometheus asks again within 60 s as it is mostly set up): the side that asks closes first, and no request is written into a
 * connection that is being closed.
 */
export const KEEP_ALIVE_MS = 75_000;
