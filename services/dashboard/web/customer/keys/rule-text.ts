/** Rules as written in a text field: one a line; commas and blank lines are forgiven. */
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
