import { type AppFinding, type Risk, type Severity } from '../report';

/** Weights of the contract: the share of the remaining trust that one finding takes away. */
const WEIGHTS: Readonly<Record<Severity, number>> = { critical: 0.5, high: 0.25, warning: 0.08 };

const METHOD = `100·(1 − ∏(1 − weight)) over the findings; weights: ${Object.entries(WEIGHTS)
  .map(([severity, weight]) => `${severity} ${weight}`)
  .join(', ')}`;

/**
 * 100·(1 − ∏(1 − weight)), to two decimals; below 20 low, below 50 medium, below 75 high, else critical.
 * @param complete false when part of the app was not searched, so that findings may be missing
 */
export function rateRisk(findings: readonly AppFinding[], complete: boolean): Risk {
  const trust = findings.reduce((left, { severity }) => left * (1 - WEIGHTS[severity]), 1);
  const score = Math.round((1 - trust) * 10_000) / 100;
  return { score, level: levelOf(score), method: METHOD, complete };
}

function levelOf(score: number): Risk['level'] {
  if (score < 20) return 'low';
  if (score < 50) return 'medium';
  return score < 75 ? 'high' : 'critical';
}
