import { FREE_PLAN } from '../../../reference/plan-name.js';

export interface DetailPart {
  readonly name: string;
  readonly text: string;
}

/** Formats an ISO time for pages. */
type FormatMoment = (iso: string) => string;

/** Ids that mean nothing to a person. The line names its subject already. */
const HIDDEN = new Set(['customer', 'webhook', 'token', 'request']);
const LONGEST = 120;

type Members = Readonly<Record<string, unknown>>;
const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);
const isNothing = (value: unknown): boolean => value === null || value === undefined || (Array.isArray(value) && value.length === 0);

/** `expiresAt` as `expires at`. */
function inWords(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}

function describe(value: unknown, formatMoment: FormatMoment): string {
  if (isNothing(value)) return 'none';
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) return formatMoment(value);
  const text = Array.isArray(value)
    ? value.map((each) => describe(each, formatMoment)).join(', ')
    : typeof value === 'string'
      ? value
      : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** The differences between two states, as `plan` and `Base → Star`. */
function changes(before: Members, after: Members, formatMoment: FormatMoment): DetailPart[] {
  return Object.keys({ ...before, ...after })
    .filter((name) => JSON.stringify(before[name] ?? null) !== JSON.stringify(after[name] ?? null))
    .map((name) => {
      const show = (value: unknown): string => (name === 'plan' && value === null ? FREE_PLAN : describe(value, formatMoment));
      return { name: inWords(name), text: `${show(before[name])} → ${show(after[name])}` };
    });
}

/**
 * The details of a line in words: the changes, or the values that something was made with. Empty values are left out, long lists are cut.
 */
export function describeDetails({ before, after, ...rest }: Members, formatMoment: FormatMoment): DetailPart[] {
  const others = Object.entries(rest)
    .filter(([name, value]) => !HIDDEN.has(name) && !isNothing(value))
    .map(([name, value]) => ({ name: inWords(name), text: describe(value, formatMoment) }));
  if (isMembers(before) && isMembers(after)) return [...changes(before, after, formatMoment), ...others];
  const ends = [
    { name: 'before', value: before },
    { name: 'after', value: after },
  ].filter(({ value }) => !isNothing(value));
  return [...ends.map(({ name, value }) => ({ name, text: describe(value, formatMoment) })), ...others];
}
