import { LRUCache } from 'lru-cache';
import { type PluginModule } from '../core/access/kong-pdk';
import { KEY_PLACES, readKeyPlaces, type KeyPlace } from '../core/key-places';
import { type AccessInstance } from '../core/access/verdict';

/** Far more than a gateway has routes; each costs a few hundred bytes. */
const MAX_ROUTES = 1_024;

/** The plugin's settings for one route, as a gateway's configuration has them: by name, each as text. */
export type RouteText = Readonly<Record<string, string | undefined>>;

const list = (text: string): string[] => text.split(',').map((part) => part.trim());

/** By default the key may be in every place that a gateway can read without the body. */
const PLACES_WITHOUT_FORMS = KEY_PLACES.filter((place) => place !== 'form');

const whole = (text: string): unknown => (/^\d{1,9}$/.test(text) ? Number(text) : text);

const truth = (text: string): unknown => (text === 'true' || text === 'false' ? text === 'true' : text);

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  products: list,
  key_in: list,
  quota: truth,
  post_units: whole,
  on_quota_store_error: (text) => text,
  rate_limit_headers: (text) => text,
};

/** The others pass on what the access layer says in headers that they set, so that each request needs a proof. */
const READERS_OF_FORMS: typeof READERS = {
  ...READERS,
  enforce: truth,
  consumer: truth,
  form_key_max_bytes: whole,
  form_key_timeout_ms: whole,
};

/** Abilities that not every entrance has. */
interface EntranceAbilities {
  /** The entrance passes on forms, so a key may be in one. */
  readonly takesForms?: boolean;
}

/** The settings of `api-a,api-b;key_in=x-api-key;…`, the form in which gateways write a route. */
export function splitRoute(route: string): RouteText {
  const [products, ...settings] = route.split(';');
  return { ...Object.fromEntries(settings.map((setting) => setting.split('=', 2) as [string, string])), products };
}

/**
 * The places in which a route takes the key, as far as its text can be parsed. A malformed text makes no configuration, so every request is
 * refused.
 */
export const keyPlacesOf = ({ key_in: text }: RouteText): ReadonlySet<KeyPlace> => readKeyPlaces(text === undefined ? [] : list(text));

/**
 * Parses the plugin's configuration from a gateway's text.
 * @throws Error naming a member that is unknown, or that cannot work without the request's body
 */
function readRoute(text: RouteText, { takesForms = false }: EntranceAbilities = {}): Record<string, unknown> {
  const readers = takesForms ? READERS_OF_FORMS : READERS;
  const config: Record<string, unknown> = takesForms ? {} : { key_in: PLACES_WITHOUT_FORMS };
  for (const [name, value] of Object.entries(text)) {
    const read = readers[name];
    if (!read) throw new Error(`${name} is no setting of a route`);
    if (value !== undefined) config[name] = read(value);
  }
  const places: unknown = config['key_in'];
  if (!takesForms && Array.isArray(places) && places.includes('form')) throw new Error('key_in: this gateway hands over no forms');
  return config;
}

/** The access layer's instances by the text of each route. An instance is created when its route is first used. */
export class EntranceRoutes {
  private readonly known = new LRUCache<string, AccessInstance>({ max: MAX_ROUTES });

  constructor(
    private readonly plugin: PluginModule<AccessInstance>,
    private readonly abilities: EntranceAbilities = {},
  ) {}

  /**
   * @param id the same for the same text
   * @throws Error when the text makes no configuration
   */
  find(id: string, text: RouteText): AccessInstance {
    return this.known.get(id) ?? this.add(id, text);
  }

  /** The same for a route written as {@link splitRoute} reads it. */
  findByText(route: string): AccessInstance {
    return this.known.get(route) ?? this.add(route, splitRoute(route));
  }

  private add(id: string, text: RouteText): AccessInstance {
    const instance = new this.plugin.Plugin(readRoute(text, this.abilities));
    this.known.set(id, instance);
    return instance;
  }
}
