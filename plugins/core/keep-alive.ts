/**
 * Milliseconds for which a listener keeps an idle connection. It is longer than clients keep theirs (Kong and nginx 60 s, Caddy and HAProxy
 * less; Prometheus usually scrapes within 60 s). The client therefore closes first, and no request is written to a connection that is being
 * closed.
 */
export const KEEP_ALIVE_MS = 75_000;
