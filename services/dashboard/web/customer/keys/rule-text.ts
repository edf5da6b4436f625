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
