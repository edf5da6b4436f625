import { createHash } from 'node:crypto';

/** Longest list of rules in a line of the audit log, which is kept: a line with all 1,000 rules has 20 KB. */
const MAX_LISTED = 20;

function cut(rules: readonly string[]): readonly string[] {
  return rules.length > MAX_LISTED ? [...rules.slice(0, MAX_LISTED), `${rules.length - MAX_LISTED} more`] : rules;
}

/**
 * How the audit log keeps lists of rules: short ones as they are, long ones as 20 rules and the number of the others. Then `rulesHash`
 * shows whether a key had certain rules: SHA-256 (hexadecimal) of all its rules, sorted by code unit, with a line feed between two.
 * @param lists by the name of the member
 * @param all all the key's rules from then on
 */
export function auditRules(lists: Readonly<Record<string, readonly string[]>>, all: readonly string[]): Readonly<Record<string, unknown>> {
  const entries = Object.entries(lists);
  const details = Object.fromEntries(entries.map(([name, rules]) => [name, cut(rules)]));
  if (entries.every(([, rules]) => rules.length <= MAX_LISTED)) return details;
  const rulesHash = createHash('sha256')
    .update([...all].sort().join('\n'))
    .digest('hex');
  return { ...details, rulesHash };
}
