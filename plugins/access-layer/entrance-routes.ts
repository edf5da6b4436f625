import { LRUCache } from 'lru-cache';
import { type PluginModule } from '../core/access/kong-pdk';
import { KEY_PLACES } from '../core/access/credential-location';
import { type AccessInstance } from './held-request';

/** Far more than a gateway has routes; each costs a few hundred bytes. */
const MOST_ROUTES = 1_024;

/** What a gateway's configuration may say of one route, all of it text: the members of the plugin's configuration, by their names. */
export type RouteText = Readonly<Record<string, string | undefined>>;

const list = (text: string): string[] => text.split(',').map((part) => part.trim());

/** By default the key may be in every place that a gateway can show without the body. */
const PLACES_WITHOUT_FORMS = KEY_PLACES.filter((place) => place !== 'form');

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  products: list,
  key_in: list,
  quota: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
  post_units: (text) => (/^\d{1,5}$/.test(text) ? Number(text) : text),
  on_quota_store_error: (text) => text,
  rate_limit_headers: (text) => text,
};

/**
 * The plugin's configuration from the text of a gateway's.
 * @throws Error naming a member that is unknown, or that asks for what cannot be done without the request's body
 */
export function readRoute(text: RouteText): Record<string, unknown> {
  const config: Record<string, unknown> = { key_in: PLACES_WITHOUT_FORMS };
  for (const [name, value] of Object.entries(text)) {
    const read = READERS[name];
    if (!read) throw new Error(`${name} is no setting of a route`);
    if (value !== undefined) config[name] = read(value);
  }
  const places: unknown = config['key_in'];
  if (Array.isArray(places) && places.includes('form')) throw new Error('key_in: this gateway hands over no forms');
  return config;
}

/** The access layer's instances by the text of each route. An instance is created when its route is first used. */
export class EntranceRoutes {
  private readonly known = new LRUCache<string, AccessInstance>({ max: MOST_ROUTES });

  constructor(private readonly plugin: PluginModule) {}

  /**
   * @param id the same for the same text
   * @throws Error when the text makes no configuration
   */
  find(id: string, text: RouteText): AccessInstance {
    const known = this.known.get(id);
    if (known) return known;
    const instance = new this.plugin.Plugin(readRoute(text));
    this.known.set(id, instance);
    return instance;
  }
}
