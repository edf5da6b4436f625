import { type PoolClient } from 'pg';
import { parseWhitelistRule, type WhitelistRule } from '../../../core/whitelist';
import { OperationRefused } from '../operation-refused';

/** Rules live in the memory of every node, for every key in use. */
const MOST_RULES = 10_000;

/**
 * Canonical rules without repetitions.
 * @param written rules as a customer writes them
 * @throws OperationRefused `rule_malformed`
 */
export function parseRules(written: readonly string[]): WhitelistRule[] {
  const rules = new Map<string, WhitelistRule>();
  for (const text of written) {
    const parsed = parseWhitelistRule(text);
    if (!parsed.ok) throw new OperationRefused('rule_malformed', parsed.message);
    rules.set(parsed.rule.text, parsed.rule);
  }
  if (rules.size > MOST_RULES) throw new OperationRefused('rule_malformed', `a key can have at most ${MOST_RULES} whitelist rules`);
  return [...rules.values()];
}

export async function insertRules(client: PoolClient, credentialId: string, rules: readonly WhitelistRule[]): Promise<void> {
  if (rules.length === 0) return;
  await client.query(
    'INSERT INTO whitelist_rule (credential_id, kind, rule) SELECT $1, kind, rule FROM unnest($2::text[], $3::text[]) AS r(kind, rule)',
    [credentialId, rules.map(({ kind }) => kind), rules.map(({ text }) => text)],
  );
}
