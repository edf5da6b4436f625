import { CAPABILITY_RULES } from './capability-rules';
import { BUILD_RULES, SIGNING_RULES } from './hardening-rules';
import { type Rule } from './rule';

/** The day on which the rules or their weights last changed. */
export const RULES_AS_OF = '2026-11-30';

/** All rules. Findings of equal weight appear in this order. */
export const RULES: readonly Rule[] = [...SIGNING_RULES, ...CAPABILITY_RULES, ...BUILD_RULES];
