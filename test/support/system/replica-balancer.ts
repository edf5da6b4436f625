export const BALANCER = 'haproxy';

/** The balancer takes a replica that is going out of its turns within this time, and one that is back in again. */
export const CHECK_SECONDS = 0.4;

/**
 * What HAProxy needs to stand in front of replicas, as docs/operate/scale.md has Kong do it: a request without a proof is refused with 401
 * by a service that is well and with 503 by one that is going.
 * @param services where each service is asked, by name
 * @param replicas URLs by the same names, one record a replica
 */
export function balancedConfig(services: Readonly<Record<string, string>>, replicas: readonly Readonly<Record<string, string>>[]): string {
  const hostOf = (url = ''): string => new URL(url).host;
  const listens = Object.entries(services).map(([name, url]) =>
    [`listen ${name}`, `  bind ${hostOf(url)}`, ...replicas.map((urls, at) => `  server r${at} ${hostOf(urls[name])}`)].join('\n'),
  );
  return `defaults
  mode http
  option httpchk GET /
  http-check expect status 401
  default-server check inter ${CHECK_SECONDS * 1000} fall 1 rise 1
  # A replica that waits for its turn is not away.
  timeout check 60s
  timeout connect 5s
  timeout client 300s
  timeout server 300s
  option http-server-close
  option redispatch 1
  retries 2
${listens.join('\n')}
`;
}
