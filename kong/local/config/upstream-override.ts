/** What it needs of a service of kong.yml. */
export interface DeclaredAddress {
  readonly name: string;
  readonly url?: string | undefined;
}

/** Hosts of kong.yml are the names of the containers that docker-compose.yml gives our services. */
const HOST = /^http:\/\/tollgate-([a-z-]+):/;

/**
 * The address that replaces a service's `url`: that of its own name, else that of the service of ours which its url names. Two services
 * of kong.yml may lead to one of ours, at different prices.
 * @param overrides by the names of our services, and of others in kong.yml
 */
export function findOverride({ name, url }: DeclaredAddress, overrides: Readonly<Record<string, string>>): string | undefined {
  return overrides[name] ?? overrides[HOST.exec(url ?? '')?.[1] ?? name];
}
