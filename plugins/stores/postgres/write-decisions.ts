import { type Decision } from '../../core/ports';
import { type Database, isUuid } from './database';

const INSERT = `
INSERT INTO decision (request_id, at, outcome, products, key_place, masked_key, credential_id, customer_id, subscription_id, product,
  caller_address, origin_host, matched_rule, quota)
SELECT request_id, to_timestamp(at_ms / 1000), outcome, string_to_array(products, ','), key_place, masked_key, credential_id, customer_id,
  subscription_id, product, caller_address, origin_host, matched_rule, quota::jsonb
FROM unnest($1::text[], $2::float8[], $3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::uuid[], $9::uuid[], $10::text[],
  $11::text[], $12::text[], $13::text[], $14::text[]) AS row(request_id, at_ms, outcome, products, key_place, masked_key, credential_id,
  customer_id, subscription_id, product, caller_address, origin_host, matched_rule, quota)`;

/** Text from outside may hold what PostgreSQL's text cannot: NUL and halves of surrogate pairs. */
function textOf(text: string | undefined): string | null {
  return text?.replace(/[\0\ud800-\udfff]/gu, '') ?? null;
}

function uuidOf(text: string | undefined): string | null {
  return text !== undefined && isUuid(text) ? text : null;
}

/** Appends decisions in one statement. */
export async function writeDecisions(db: Database, decisions: readonly Decision[]): Promise<void> {
  if (decisions.length === 0) return;
  const column = <T>(of: (decision: Decision) => T): T[] => decisions.map(of);
  await db.query({
    name: 'write-decisions',
    text: INSERT,
    values: [
      column(({ requestId }) => textOf(requestId)),
      column(({ atMs }) => atMs),
      column(({ outcome }) => outcome),
      column(({ products }) => products.join(',')),
      column(({ keyPlace }) => textOf(keyPlace)),
      column(({ maskedKey }) => textOf(maskedKey)),
      column(({ credentialId }) => uuidOf(credentialId)),
      column(({ customerId }) => uuidOf(customerId)),
      column(({ subscriptionId }) => uuidOf(subscriptionId)),
      column(({ product }) => textOf(product)),
      column(({ callerAddress }) => textOf(callerAddress)),
      column(({ originHost }) => textOf(originHost)),
      column(({ matchedRule }) => textOf(matchedRule)),
      column(({ quota }) => (quota ? JSON.stringify(quota) : null)),
    ],
  });
}
