import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { findOverride } from '../../../kong/local/config/upstream-override';

const KONG_YML = resolve(__dirname, '..', '..', '..', 'kong', 'kong.yml');

/** A gateway takes a replica that is going out of its turns within this time, and one that is back in again. */
export const CHECK_SECONDS = 0.4;

/**
 * As docs/operate/scale.md has it: a request without a proof is refused with 401 by a service that is well and with 503 by one that is
 * going.
 */
const HEALTH_CHECKS = {
  active: {
    http_path: '/',
    // A replica that waits for its turn is not away: none of them would be left.
    timeout: 60,
    healthy: { interval: CHECK_SECONDS, successes: 1, http_statuses: [401] },
    unhealthy: { interval: CHECK_SECONDS, http_failures: 1, tcp_failures: 1, timeouts: 1, http_statuses: [503] },
  },
};

/**
 * The project's kong.yml with every service behind an upstream of several targets, as text.
 * @param replicas URLs by service name, one record a replica
 */
export function replicatedKongYml(replicas: readonly Readonly<Record<string, string>>[]): string {
  const file = parse(readFileSync(KONG_YML, 'utf8')) as { services: { name: string; url?: string }[] };
  const sold = file.services.filter((service) => replicas.every((urls) => findOverride(service, urls) !== undefined));
  const upstreams = sold.map((service) => ({
    name: `${service.name}.replicas`,
    healthchecks: HEALTH_CHECKS,
    targets: replicas.map((urls) => ({ target: new URL(findOverride(service, urls) ?? '').host })),
  }));
  const services = sold.map(({ url: _url, ...service }) => ({ ...service, host: `${service.name}.replicas` }));
  return JSON.stringify({ ...file, upstreams, services });
}
