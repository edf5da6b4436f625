/** What {@link findOverride} needs of a service in kong.yml. */
export interface DeclaredAddress {
  readonly name: string;
  readonly url?: string | undefined;
}

/** Hosts in kong.yml are the container names that docker-compose.yml gives Tollgate's services. */
const HOST = /^http:\/\/tollgate-([a-z-]+):/;

/**
 * The address that replaces a service's `url`: that of its own name, else that of the Tollgate service in its url. Two services of kong.yml
 * may lead to one Tollgate service, at different prices.
 * @param overrides by the names of Tollgate's services, and of others in kong.yml
 */
export function findOverride({ name, url }: DeclaredAddress, overrides: Readonly<Record<string, string>>): string | undefined {
  return overrides[name] ?? overrides[HOST.exec(url ?? '')?.[1] ?? name];
}
