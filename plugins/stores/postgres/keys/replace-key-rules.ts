import { type Database, inTransaction } from '../database';
import { type KeyRef, type KeyView, lockKey } from './key-view';
import { insertRules, parseRules } from './whitelist-rules';
import { type Actor, writeAudit } from '../customers/write-audit';

function without(rules: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return rules.filter((rule) => !known.has(rule));
}

/**
 * Replaces all whitelist rules of a key; an empty list admits every caller again. The same rules again are no change.
 * @param options.rules as a customer writes them
 * @throws OperationRefused `key_unknown`, `rule_malformed`
 */
export async function replaceKeyRules(
  db: Database,
  options: KeyRef & { readonly rules: readonly string[]; readonly actor: Actor },
): Promise<KeyView> {
  const rules = parseRules(options.rules);
  return inTransaction(db, async (client) => {
    const before = await lockKey(client, options);
    await client.query('DELETE FROM whitelist_rule WHERE credential_id = $1', [before.id]);
    await insertRules(client, before.id, rules);
    const after = await lockKey(client, before);
    const details = { added: without(after.rules, before.rules), removed: without(before.rules, after.rules) };
    if (details.added.length + details.removed.length === 0) return after;
    await writeAudit(client, { actor: options.actor, action: 'key.rules', subject: { kind: 'credential', id: before.id }, details });
    return after;
  });
}
