import { type Database, isUuid } from '../database';
import { type CustomerSummary } from '../customers/show-customers';
import { suspensionOf } from '../suspensions/suspension-view';

export interface CustomersPageQuery {
  readonly limit: number;
  /** Beginning of an e-mail address whatever its case, id of a customer or key, or a key's last four characters. */
  readonly search?: string | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

export interface CustomersPage {
  readonly customers: readonly CustomerSummary[];
  readonly next: string | undefined;
}

const COLUMNS = `c.id, c.email, c.created_at AS "createdAt", c.display_name AS name, ${suspensionOf('customer', 'c.id')} AS suspended`;

/** In the order of bytes, as the index has them: what begins with a text lies between it and it with the last character of all. */
export const BY_EMAIL = `
SELECT ${COLUMNS} FROM customer c
WHERE lower(c.email) COLLATE "C" >= $1 AND lower(c.email) COLLATE "C" < $2 AND lower(c.email) COLLATE "C" > $3
ORDER BY lower(c.email) COLLATE "C" LIMIT $4`;
const LAST_CHARACTER = '\u{10ffff}';

const BY_ID = `
SELECT ${COLUMNS} FROM customer c
WHERE c.id = $1::uuid OR c.id = (SELECT customer_id FROM credential WHERE id = $1::uuid)`;

/** Keys with the same four characters are few: of random ones one in 14 million. */
export const BY_LAST_FOUR = `
SELECT ${COLUMNS} FROM customer c
WHERE c.id IN (SELECT customer_id FROM credential WHERE last_four = $1 AND last_four <> '' ORDER BY id LIMIT $2)
ORDER BY lower(c.email) COLLATE "C"`;

async function byKey(db: Database, search: string, limit: number): Promise<CustomerSummary[]> {
  if (isUuid(search)) return (await db.query<CustomerSummary>(BY_ID, [search])).rows;
  if (search.length !== 4) return [];
  return (await db.query<CustomerSummary>(BY_LAST_FOUR, [search, limit])).rows;
}

/** Customers by address, those with a key that was searched for before the others. However many there are, a page costs what it shows. */
export async function findCustomers(db: Database, { limit, search = '', after }: CustomersPageQuery): Promise<CustomersPage> {
  const begin = search.toLowerCase();
  const place = after === undefined ? '' : Buffer.from(after, 'base64url').toString().replaceAll('\0', '');
  const { rows } = await db.query<CustomerSummary>(BY_EMAIL, [begin, begin + LAST_CHARACTER, place, limit + 1]);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const exact = after === undefined && search !== '' ? await byKey(db, search, limit) : [];
  const others = shown.filter(({ id }) => !exact.some((each) => each.id === id));
  return { customers: [...exact, ...others], next: last && Buffer.from(last.email.toLowerCase()).toString('base64url') };
}
