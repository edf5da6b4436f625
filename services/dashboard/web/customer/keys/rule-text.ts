/** Splits the text of a field into rules, one a line. Commas and blank lines are accepted. */
export function splitRules(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Rules for a text field. */
export function joinRules(rules: readonly string[]): string {
  return rules.join('\n');
}

/** An IPv4 or IPv6 address or range; everything else is a domain. */
const isAddress = (rule: string): boolean => /^[\d.]+(\/\d+)?$/.test(rule) || rule.includes(':');

/**
 * Rules that do not do what they seem to, in words.
 * @param rules as typed; the server reports malformed ones
 */
export function findRuleFlaws(rules: readonly string[]): string[] {
  const everyone = rules.filter((rule) => isAddress(rule) && /\/0+$/.test(rule));
  if (everyone.length > 0) return [`${everyone.join(' and ')} matches every address, so the rules keep no one out.`];
  const domain = rules.find((rule) => !isAddress(rule));
  if (domain === undefined || !rules.some(isAddress)) return [];
  return [
    `A caller needs to match only one rule, and any program can send the Origin of ${domain}. The IP rules therefore keep no one out; use separate keys for servers and for browsers.`,
  ];
}
