import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client } from 'pg';
import { describeSchema } from './describe-schema';

/** The schema as the migrations of this version leave it; a test holds it true. */
export const SCHEMA_FILE = join(__dirname, 'schema.sql');
/** The first and the last of the migrations that were there before 0.1.0, and the last one of the baseline that took their place. */
const FIRST_BEFORE = '0001_access';
const LAST_BEFORE = '0173_customer_day';
const LAST_OF_BASELINE = '0008_audit';
/** So many differences are told: the first ones show what it is about. */
const MAX_TOLD = 20;

/** True for a database that a version before 0.1.0 migrated. */
export function isFromBeforeBaseline(applied: readonly string[]): boolean {
  return applied.includes(FIRST_BEFORE);
}

/** Drops what the last version before 0.1.0 has beyond the baseline. What only a dropped column holds moves to the one that is read. */
const ADOPT = `
DROP TABLE schema_migration;
DROP FUNCTION quota_take(uuid[], bigint[], bigint[], bigint[], text, double precision, date[], bigint[], bigint[]);
DROP FUNCTION quota_give_back(text[], uuid[], date[], bigint[], text, double precision);
DROP FUNCTION quota_give_back(text[], uuid[], date[], bigint[], text, double precision, bigint[]);

DO $$ BEGIN
  EXECUTE replace(pg_get_functiondef('keep_subscription_terms'::regproc), 'COALESCE(l.price, l.price_inr, 0)', 'COALESCE(l.price, 0)');
END $$;
UPDATE plan SET price = price_inr WHERE price IS NULL;
ALTER TABLE plan ALTER COLUMN price SET NOT NULL, DROP COLUMN price_inr;

UPDATE decision SET standing = concat_ws(' ', quota ->> 'day', quota ->> 'usedDaily', quota ->> 'usedMonthly', quota ->> 'daily',
  quota ->> 'monthly', quota ->> 'exceeded', CASE WHEN quota ->> 'isCapped' = 'true' THEN 'capped' END)
WHERE standing IS NULL AND quota IS NOT NULL;
ALTER TABLE decision DROP COLUMN quota;

ALTER TABLE audit_log DISABLE TRIGGER USER;
UPDATE audit_log SET label = CASE subject_kind
    WHEN 'credential' THEN (SELECT prefix || '…' || last_four FROM credential WHERE id = subject_id::uuid)
    WHEN 'subscription' THEN (SELECT product_id FROM subscription WHERE id = subject_id::uuid)
  END
WHERE label IS NULL AND subject_kind IN ('credential', 'subscription') AND subject_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
ALTER TABLE audit_log ENABLE TRIGGER USER;

ALTER TABLE alert VALIDATE CONSTRAINT alert_percent_check;
ALTER TABLE audit_log VALIDATE CONSTRAINT audit_log_subject_kind_check;
ALTER TABLE webhook_delivery VALIDATE CONSTRAINT webhook_delivery_tells_one_thing;

ALTER FUNCTION quota_sync SECURITY DEFINER SET search_path = public, pg_temp;
ALTER FUNCTION quota_give_back SECURITY DEFINER SET search_path = public, pg_temp;
ALTER FUNCTION quota_forget_refunds SECURITY DEFINER SET search_path = public, pg_temp;
ALTER FUNCTION note_answers SECURITY DEFINER SET search_path = public, pg_temp;
ALTER FUNCTION audit_forget SECURITY DEFINER SET search_path = public, pg_temp;
ALTER FUNCTION erase_account SECURITY DEFINER SET search_path = public, pg_temp;
ALTER FUNCTION erase_person SECURITY DEFINER SET search_path = public, pg_temp;
REVOKE ALL ON FUNCTION quota_sync, quota_give_back, quota_forget_refunds, audit_forget FROM PUBLIC`;

const COMMENTS = /^COMMENT ON [\s\S]*?';$/gm;

export interface BeforeAdoption {
  /** Names of the migrations that the database has. */
  readonly applied: readonly string[];
  /** Names of the migrations of this version, in their order. */
  readonly names: readonly string[];
  readonly sqlOf: (name: string) => string;
}

/**
 * Turns the schema of the last version before 0.1.0 into the baseline's, within the caller's transaction. {@link checkAdopted} says
 * whether that went well, once later migrations have run.
 * @returns names of the migrations that need not run any more
 */
export async function adoptSchema(client: Client, { applied, names, sqlOf }: BeforeAdoption): Promise<string[]> {
  if (!applied.includes(LAST_BEFORE)) {
    throw new Error(
      `the database is older than the last version before 0.1.0 (migration ${LAST_BEFORE}); start that version once, then this one`,
    );
  }
  const baseline = names.filter((name) => name <= LAST_OF_BASELINE);
  try {
    await client.query(ADOPT);
  } catch (cause) {
    if (Reflect.get(cause as Error, 'code') === '55P03') throw cause;
    throw refusal([cause instanceof Error ? cause.message : String(cause)], cause);
  }
  for (const name of baseline) await client.query((sqlOf(name).match(COMMENTS) ?? []).join('\n'));
  return baseline;
}

/** Each line under the table or function that it belongs to. Comments, spaces and the order of columns make no difference. */
function linesOf(schema: string): string[] {
  let object = '';
  return schema.split('\n').flatMap((line) => {
    object = /^CREATE (?:TABLE|(?:OR REPLACE )?FUNCTION|AGGREGATE) (?:public\.)?(\w+)/.exec(line)?.[1] ?? object;
    const text = line.replace(/--.*$/, '').trim().replace(/,$/, '');
    return text === '' ? [] : [`${object}: ${text}`];
  });
}

/** Lines of `one` that `other` has not, or has fewer times. */
function missingIn(other: readonly string[], one: readonly string[]): string[] {
  const left = [...other];
  return one.filter((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function refusal(differences: readonly string[], cause?: unknown): Error {
  const told = differences.slice(0, MAX_TOLD);
  const more = differences.length > told.length ? [`and ${differences.length - told.length} more`] : [];
  return new Error(
    'the schema is not as the last version before 0.1.0 leaves it, and nothing was changed. Undo what was done to it by other means, or ' +
      `move the data into a new database, then migrate again. What differs:\n${[...told, ...more].join('\n')}`,
    { cause },
  );
}

/** @throws Error that names what an adopted database has more or less than one that this version made */
export async function checkAdopted(client: Client): Promise<void> {
  const wanted = linesOf(readFileSync(SCHEMA_FILE, 'utf8'));
  const found = linesOf(await describeSchema(client));
  const lacks = missingIn(found, wanted).map((line) => `  lacks     ${line}`);
  const has = missingIn(wanted, found).map((line) => `  has also  ${line}`);
  if (lacks.length + has.length > 0) throw refusal([...lacks, ...has]);
}
