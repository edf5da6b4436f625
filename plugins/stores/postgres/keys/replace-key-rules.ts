import { type Database, inTransaction } from '../database';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type KeyRef, type KeyView, lockKey, viewKey } from './key-view';
import { insertRules, parseRules } from './whitelist-rules';

/**
 * Replaces all whitelist rules of a key; an empty list admits every caller again. The same rules again are no change.
 * @param options.rules as a customer writes them
 * @throws OperationRefused `key_unknown`, `rule_malformed`
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
    if (removed.length > 0) {
      await client.query('DELETE FROM whitelist_rule WHERE credential_id = $1 AND rule = ANY ($2)', [before.id, removed]);
    }
    await insertRules(client, before.id, added);
    const after = await viewKey(client, before);
    const details = { added: after.rules.filter((rule) => !known.has(rule)), removed };
    await writeAudit(client, { actor: options.actor, action: 'key.rules', subject: { kind: 'credential', id: before.id }, details });
    return after;
  });
}
