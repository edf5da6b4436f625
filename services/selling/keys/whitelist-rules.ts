import { type PoolClient } from 'pg';
import { parseWhitelistRule, type WhitelistRule } from '../../../plugins/core/access/whitelist';
import { MAX_RULES } from '../../../plugins/core/access/max-rules';
import { requireRoom } from '../customers/customer-limits';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { auditRules } from './audit-rules';
import { type KeyRef, type KeyView, lockKey, viewKey } from './key-view';

/** Maximum malformed rules that a refusal names. */
const MAX_FAULTS = 10;

/**
 * Canonical rules without repetitions.
 * @param written rules as a customer writes them
 * @throws OperationRefused `rule_malformed`, `rule_limit_reached`
 */
export function parseRules(written: readonly string[]): WhitelistRule[] {
  // Counted as written, before any rule is parsed.
  if (written.length > MAX_RULES)
    throw new OperationRefused('rule_limit_reached', `a key can have at most ${MAX_RULES} whitelist rules, not ${written.length}`);
  const rules = new Map<string, WhitelistRule>();
  const faults: string[] = [];
  for (const text of written) {
    const parsed = parseWhitelistRule(text);
    if (parsed.ok) rules.set(parsed.rule.text, parsed.rule);
    else if (faults.length < MAX_FAULTS) faults.push(parsed.message);
  }
  if (faults.length > 0) throw new OperationRefused('rule_malformed', faults.join('; '));
  return [...rules.values()];
}

export async function insertRules(client: PoolClient, credentialId: string, rules: readonly WhitelistRule[]): Promise<void> {
  if (rules.length === 0) return;
  await client.query(
    'INSERT INTO whitelist_rule (credential_id, kind, rule) SELECT $1, kind, rule FROM unnest($2::text[], $3::text[]) AS r(kind, rule)',
    [credentialId, rules.map(({ kind }) => kind), rules.map(({ text }) => text)],
  );
}

/**
 * Replaces all whitelist rules of a key; an empty list admits every caller again. The same rules again are no change.
 * @param options.rules as a customer writes them
 * @throws OperationRefused `key_unknown`, `rule_malformed`, `rule_limit_reached` when the rules become more than the customer may have
 */
export async function replaceKeyRules(
  db: Database,
  options: KeyRef & { readonly rules: readonly string[]; readonly actor: Actor },
): Promise<KeyView> {
  const rules = new Map(parseRules(options.rules).map((rule) => [rule.text, rule]));
  return inTransaction(db, async (client) => {
    const before = await lockKey(client, options);
    const known = new Set(before.rules);
    const removed = before.rules.filter((rule) => !rules.has(rule));
    const added = [...rules.values()].filter(({ text }) => !known.has(text));
    if (added.length + removed.length === 0) return before;
    const growth = added.length - removed.length;
    if (growth > 0) await requireRoom(client, before.customerId, { rules: growth });
    if (removed.length > 0) {
      await client.query('DELETE FROM whitelist_rule WHERE credential_id = $1 AND rule = ANY ($2)', [before.id, removed]);
    }
    await insertRules(client, before.id, added);
    const after = await viewKey(client, before);
    const details = auditRules({ added: after.rules.filter((rule) => !known.has(rule)), removed }, after.rules);
    await writeAudit(client, { actor: options.actor, action: 'key.rules', subject: { kind: 'credential', id: before.id }, details });
    return after;
  });
}
