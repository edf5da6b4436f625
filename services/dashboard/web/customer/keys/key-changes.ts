import { type Key } from '../../../contract/keys';

/** One field that differs. */
export interface KeyChange {
  readonly label: string;
  readonly before: string;
  readonly now: string;
}

const list = (values: readonly string[]): string => (values.length === 0 ? 'none' : values.join(', '));

/** The differences between two states of a key, in words. `showMoment` formats an ISO time. */
export function describeChanges(before: Key, now: Key, showMoment: (iso: string) => string): KeyChange[] {
  const expiry = (key: Key): string => (key.expiresAt === null ? 'never' : showMoment(key.expiresAt));
  const rows: KeyChange[] = [
    { label: 'Name', before: before.name ?? 'none', now: now.name ?? 'none' },
    { label: 'State', before: before.state, now: now.state },
    { label: 'Products', before: list(before.products), now: list(now.products) },
    { label: 'Tags', before: list(before.tags), now: list(now.tags) },
    { label: 'Expires', before: expiry(before), now: expiry(now) },
    ...ruleChanges(before.rules, now.rules),
  ];
  return rows.filter((row) => row.before !== row.now);
}

/** Lists of rules can be long, so only additions and removals are shown. */
function ruleChanges(before: readonly string[], now: readonly string[]): KeyChange[] {
  const old = new Set(before);
  const fresh = new Set(now);
  const gone = before.filter((rule) => !fresh.has(rule));
  const added = now.filter((rule) => !old.has(rule));
  if (gone.length + added.length === 0) return [];
  return [{ label: 'Rules', before: `removed: ${list(gone.slice(0, 20))}`, now: `added: ${list(added.slice(0, 20))}` }];
}

/** True when name, products, tags and expiry are the same. */
export function isSameSettings(a: Key, b: Key): boolean {
  return a.name === b.name && a.expiresAt === b.expiresAt && isSameList(a.products, b.products) && isSameList(a.tags, b.tags);
}

/** True when the rules are the same. */
export function isSameRules(a: Key, b: Key): boolean {
  return isSameList(a.rules, b.rules);
}

/** The same members, in any order. */
export function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && [...a].sort().join('\n') === [...b].sort().join('\n');
}
