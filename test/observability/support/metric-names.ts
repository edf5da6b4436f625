import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

const ROOT = resolve(__dirname, '..', '..', '..');
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8');

/** Names of metrics in a text: ours, and those of the process. */
const NAME = /\b(?:tollgate|process|nodejs)_[a-z0-9_]+/g;

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook: string };
  readonly labels: { readonly severity: string };
}

export function readAlerts(): Rule[] {
  return (parse(read('docs', 'grafana', 'alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules);
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

export function readPanels(): Panel[] {
  return (JSON.parse(read('docs', 'grafana', 'tollgate.json')) as { panels: Panel[] }).panels;
}

export function readOperations(): string {
  return read('docs', 'operate', 'monitor.md');
}

/** Without the label matchers, whose values may look like names. */
export function namesIn(expression: string): string[] {
  return [...expression.replace(/"[^"]*"/g, '""').matchAll(NAME)].map(([name]) => name);
}

/** Every series name that the outputs of `/metrics` can have, with the labels that were seen there. */
export function seriesIn(outputs: readonly string[]): Set<string> {
  const names = new Set<string>();
  for (const [, name = '', type] of outputs.join('\n').matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    names.add(name);
    if (type === 'histogram') for (const part of ['bucket', 'sum', 'count']) names.add(`${name}_${part}`);
  }
  return names;
}
