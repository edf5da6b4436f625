import { isMap, isSeq } from 'yaml';
import { z } from 'zod';
import { type YamlText } from '../../plugins/core/catalogue/read-yaml';
import { LONE_SURROGATE } from '../../plugins/core/unstorable-text';
import { CommandError } from '../command-error';
import { isEmailAddress } from '../../services/selling/customers/is-email-address';
import { type ImportLine, type ImportFields } from '../../services/selling/keys/import-line';

const text = z.union([z.string(), z.number()]).transform(String);
const credential = z.object({ key: text, tags: z.array(text).nullish(), ttl: z.number().nullish(), created_at: z.number().nullish() });
const group = z.object({ group: text });
/** The consumer that a credential or a group outside the list of consumers belongs to. */
const owner = z.union([text, z.object({ id: text.optional(), username: text.optional(), custom_id: text.optional() })]).optional();
const consumer = z.object({
  id: text.optional(),
  username: text.nullish(),
  custom_id: text.nullish(),
  keyauth_credentials: z.array(credential).nullish(),
  acls: z.array(group).nullish(),
});
const kongFile = z.object({
  consumers: z.array(consumer),
  keyauth_credentials: z.array(credential.extend({ consumer: owner })).nullish(),
  acls: z.array(group.extend({ consumer: owner })).nullish(),
});

type Consumer = z.infer<typeof consumer>;
type Credential = z.infer<typeof credential>;
type Owner = z.infer<typeof owner>;

/** The domain cannot exist (RFC 2606), so nothing is ever mailed to somebody else. */
const NO_MAIL = 'kong.invalid';
const MAX_NAME = 100;

const labelOf = ({ username, custom_id: customId, id }: Consumer): string => username ?? customId ?? id ?? '';

/** The address of a consumer: the address in its name, otherwise one that is derived from its name and gets no mail. */
function addressOf(of: Consumer): string {
  const named = [of.username, of.custom_id].find((name) => typeof name === 'string' && isEmailAddress(name));
  // A text that is not well formed cannot be encoded; its line is refused later.
  return named ?? `${encodeURIComponent(labelOf(of).replace(LONE_SURROGATE, '�'))}@${NO_MAIL}`;
}

function belongsTo(of: Consumer, whose: Owner): boolean {
  if (whose === undefined) return false;
  if (typeof whose === 'string') return whose === of.username || whose === of.id || whose === of.custom_id;
  const { id, username, custom_id: customId } = whose;
  return (id !== undefined && id === of.id) || (username !== undefined && username === of.username) || (customId !== undefined && customId === of.custom_id); // prettier-ignore
}

/** Kong stores the creation in seconds since 1970, and the lifetime in seconds. */
function expiryOf({ ttl, created_at: createdAt }: Credential): Pick<ImportFields, 'expiresAt'> {
  if (!ttl || !createdAt) return {};
  return { expiresAt: new Date((createdAt + ttl) * 1_000).toISOString() };
}

const TAG = /^[a-z0-9][a-z0-9 ._:/-]*$/i;

function lineAt({ document, placeAt }: YamlText, path: readonly (string | number)[]): number {
  const node = document.getIn(path, true);
  const range = isMap(node) || isSeq(node) ? node.range : undefined;
  return placeAt(range?.[0] ?? 0).line;
}

interface Place {
  readonly of: Consumer;
  readonly credential: Credential;
  readonly path: readonly (string | number)[];
}

/** Consumers whose names differ only in case would become one customer. */
function findDoubles(consumers: readonly Consumer[]): Map<Consumer, string> {
  const first = new Map<string, Consumer>();
  const doubles = new Map<Consumer, string>();
  for (const each of consumers) {
    const address = addressOf(each).toLowerCase();
    const other = first.get(address);
    if (other) doubles.set(each, labelOf(other));
    else first.set(address, each);
  }
  return doubles;
}

/** The keys of consumers, in the order of the file. A group with the name of a product gives access to it. */
export function* readKongConsumers(yaml: YamlText, products: ReadonlySet<string>): Generator<ImportLine> {
  const file = kongFile.safeParse(yaml.value);
  if (!file.success)
    throw new CommandError(
      'invalid_argument',
      'the file must be CSV with a header line (customer, and key or sha256), JSON lines (one object a line) or a Kong file with consumers, in UTF-8',
    );
  const { consumers, keyauth_credentials: beside, acls } = file.data;
  const doubles = findDoubles(consumers);
  const places: Place[] = consumers.flatMap((of, index) =>
    (of.keyauth_credentials ?? []).map((each, at) => ({ of, credential: each, path: ['consumers', index, 'keyauth_credentials', at] })),
  );
  for (const [at, each] of (beside ?? []).entries()) {
    const path = ['keyauth_credentials', at];
    const of = consumers.find((known) => belongsTo(known, each.consumer));
    if (of) places.push({ of, credential: each, path });
    else yield { line: lineAt(yaml, path), reason: 'belongs to a consumer that is not in the file' };
  }
  for (const { of, credential: each, path } of places) {
    const line = lineAt(yaml, path);
    const double = doubles.get(of);
    if (double !== undefined) {
      yield { line, reason: `consumer "${labelOf(of)}" would become the same customer as consumer "${double}"` };
      continue;
    }
    const groups = [...(of.acls ?? []), ...(acls ?? []).filter((known) => belongsTo(of, known.consumer))].map((known) => known.group);
    const tags = (each.tags ?? []).filter((tag) => TAG.test(tag));
    yield {
      line,
      fields: {
        customer: addressOf(of),
        customerName: labelOf(of).slice(0, MAX_NAME),
        key: each.key,
        products: groups.filter((name) => products.has(name)),
        tags,
        ...expiryOf(each),
      },
    };
  }
}
