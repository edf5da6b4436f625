import { Alert } from '@mantine/core';
import { type ReactNode } from 'react';
import { findRuleFlaws } from './rule-text';

/** Warns about rules that admit more callers than they seem to. */
export function RuleWarnings({ rules }: { readonly rules: readonly string[] }): ReactNode {
  return findRuleFlaws(rules).map((flaw) => (
    <Alert key={flaw} color="yellow" role="status" py="xs" className="breakable">
      {flaw}
    </Alert>
  ));
}
