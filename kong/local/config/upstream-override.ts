/** The fields of a service in kong.yml that {@link findOverride} needs. */
export interface DeclaredAddress {
  readonly name: string;
  readonly url?: string | undefined;
}

/** Hosts in kong.yml are the container names that docker-compose.yml gives to Tollgate's services. */
const HOST = /^http:\/\/tollgate-([a-z-]+):/;

/**
 * The address that replaces a service's `url`: that of its own name, or that of the Tollgate service in its url. Two services of kong.yml
 * may use one Tollgate service, at different prices.
 * @param overrides by the names of Tollgate's services, and of others in kong.yml
 */
export function findOverride({ name, url }: DeclaredAddress, overrides: Readonly<Record<string, string>>): string | undefined {
  return overrides[name] ?? overrides[HOST.exec(url ?? '')?.[1] ?? name];
}
