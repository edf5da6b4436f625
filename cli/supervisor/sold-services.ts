import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { AS_KONG_READS } from '../../kong/as-kong-reads';
import { type WorkerKind } from '../../services/kit/worker/load-proto';
import { SERVICE_NAMES, type ServiceName, workersOf } from '../../services/products/registry';

/** As kong.yml names our services: `tollgate-ip:8080`. */
const HOST = /\btollgate-([a-z-]+):\d/g;

/** What of our own a kong.yml needs to be running. */
export interface SoldServices {
  readonly services: readonly ServiceName[];
  /** Those that the services ask. */
  readonly workers: readonly WorkerKind[];
}

/**
 * Our services to which a kong.yml sends requests, and their workers: none where only APIs of the seller's own are sold.
 * @throws whatever reading the file throws, and what is wrong with it as YAML
 */
export function soldServices(kongYml: string): SoldServices {
  // As data, because a comment names services too.
  const text = JSON.stringify(parse(readFileSync(kongYml, 'utf8'), AS_KONG_READS) ?? null);
  const named = new Set([...text.matchAll(HOST)].map(([, name = '']) => name));
  const services = SERVICE_NAMES.filter((name) => named.has(name));
  return { services, workers: [...new Set(services.flatMap(workersOf))] };
}
