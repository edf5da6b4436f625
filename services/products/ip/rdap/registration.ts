import { z } from 'zod';

/** The holder of a network according to its registry. Names of persons are left out. */
export interface Registration {
  /** The organisation; null if the registry names none, or a person. */
  readonly company: string | null;
  /** The registry's name of the network. */
  readonly networkName: string | null;
  readonly abuseEmail: string | null;
  readonly abusePhone: string | null;
}

const LONGEST = 200;
/** Entities may contain entities, for example an organisation a person. */
const DEEPEST = 3;
const MAX_ENTITIES = 50;

const property = z.tuple([z.string(), z.unknown(), z.string(), z.unknown()]).rest(z.unknown());
const entity = z.looseObject({
  roles: z.array(z.string()).catch([]),
  vcardArray: z.tuple([z.literal('vcard'), z.array(z.unknown())]).optional().catch(undefined),
  entities: z.array(z.unknown()).catch([]),
}); // prettier-ignore
const answer = z.looseObject({
  objectClassName: z.literal('ip network'),
  name: z.string().optional().catch(undefined),
  entities: z.array(z.unknown()).catch([]),
});

type Entity = z.output<typeof entity>;

/** All entities, beginning with those nearest to the network. */
function entitiesOf(values: readonly unknown[]): Entity[] {
  const all: Entity[] = [];
  let level = values;
  for (let depth = 0; depth < DEEPEST && all.length < MAX_ENTITIES; depth++) {
    const parsed = level.slice(0, MAX_ENTITIES - all.length).flatMap((value) => {
      const read = entity.safeParse(value);
      return read.success ? [read.data] : [];
    });
    all.push(...parsed);
    level = parsed.flatMap(({ entities }) => entities);
  }
  return all;
}

function cleaned(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '').trim().slice(0, LONGEST); // prettier-ignore
  return text === '' ? null : text;
}

/** The first value of a property of the entity's vCard (RFC 7095). */
function vcard({ vcardArray }: Entity, wanted: string): string | null {
  for (const row of vcardArray?.[1] ?? []) {
    const parsed = property.safeParse(row);
    if (parsed.success && parsed.data[0].toLowerCase() === wanted) {
      const text = cleaned(parsed.data[3]);
      if (text !== null) return text;
    }
  }
  return null;
}

function emailOf(one: Entity): string | null {
  const email = vcard(one, 'email');
  return email !== null && /^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/.test(email) ? email : null;
}

/** An organisation's name: `org` of any entity, or the full name of an entity that is explicitly not a person. */
function companyOf(one: Entity): string | null {
  const kind = vcard(one, 'kind')?.toLowerCase();
  return vcard(one, 'org') ?? (kind === 'org' || kind === 'group' ? vcard(one, 'fn') : null);
}

function first<T>(all: readonly Entity[], read: (one: Entity) => T | null): T | null {
  for (const one of all) {
    const found = read(one);
    if (found !== null) return found;
  }
  return null;
}

/**
 * Reads a registry's response about an address (RFC 9083).
 * @throws ZodError when it is not about a network
 */
export function readRegistration(value: unknown): Registration {
  const { name, entities } = answer.parse(value);
  const all = entitiesOf(entities);
  const withRole = (role: string): Entity[] => all.filter(({ roles }) => roles.includes(role));
  const abuse = withRole('abuse');
  return {
    company: first(withRole('registrant'), companyOf),
    networkName: cleaned(name),
    abuseEmail: first(abuse, emailOf),
    abusePhone: first(abuse, (one) => vcard(one, 'tel'))?.replace(/^tel:/i, '') ?? null,
  };
}
