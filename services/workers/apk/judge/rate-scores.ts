import { type AppFinding, type Risk, type Score, type ScoreInput, type ScoreName } from '../report';
import { type Rule } from './rule';
import { RULES, RULES_AS_OF } from './rules';

const METHOD = `100·(1 − ∏(1 − weight)) over the inputs; of findings with one cause, the heaviest is the input; rules of ${RULES_AS_OF}`;
const RISK_METHOD = `the higher of hardening and capability; each is ${METHOD}`;

const BY_ID: ReadonlyMap<string, Rule> = new Map(RULES.map((rule) => [rule.id, rule]));

/** One score of the app, to two decimals: below 20 low, below 50 medium, below 75 high, otherwise critical. */
export function rateScore(name: ScoreName, findings: readonly Pick<AppFinding, 'id'>[]): Score {
  const heaviest = new Map<string, ScoreInput>();
  for (const { id } of findings) {
    const rule = BY_ID.get(id);
    if (rule?.countsFor !== name) continue;
    const cause = rule.cause ?? id;
    if ((heaviest.get(cause)?.weight ?? 0) < rule.weight) heaviest.set(cause, { id, weight: rule.weight });
  }
  const inputs = [...heaviest.values()];
  const trust = inputs.reduce((left, { weight }) => left * (1 - weight), 1);
  const score = Math.round((1 - trust) * 10_000) / 100;
  return { score, level: levelOf(score), method: METHOD, inputs };
}

/**
 * The higher of the two scores; if they are equal, the danger to the user.
 * @param complete false when part of the app was not searched, so that findings may be missing
 */
export function rateRisk({ hardening, capability }: Readonly<Record<ScoreName, Score>>, complete: boolean): Risk {
  const of = hardening.score > capability.score ? 'hardening' : 'capability';
  const { score, level } = of === 'hardening' ? hardening : capability;
  return { score, level, of, method: RISK_METHOD, complete };
}

function levelOf(score: number): Score['level'] {
  if (score < 20) return 'low';
  if (score < 50) return 'medium';
  return score < 75 ? 'high' : 'critical';
}
