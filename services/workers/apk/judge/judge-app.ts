import { type AppFinding, type Severity, type Risk, type Score, type ScoreInput, type ScoreName } from '../report';
import { type Rule } from './rule';
import { type JudgedFacts } from './sight';
import { CAPABILITY_RULES } from './capability-rules';
import { BUILD_RULES, SIGNING_RULES } from './hardening-rules';

/** The day on which the rules or their weights last changed. */
export const RULES_AS_OF = '2026-11-30';

/** All rules. Findings of equal weight appear in this order. */
export const RULES: readonly Rule[] = [...SIGNING_RULES, ...CAPABILITY_RULES, ...BUILD_RULES];

/** Maximum places that a finding names. */
const MAX_SEEN = 100;
/** Maximum characters of a place. Android's names are shorter. */
const MAX_PLACE = 300;

/** All findings of the rules in the app, heaviest first. */
export function findFindings(facts: JudgedFacts): AppFinding[] {
  const found = RULES.flatMap((rule): { rule: Rule; finding: AppFinding }[] => {
    const places = rule.seenIn(facts);
    return places.length === 0 ? [] : [{ rule, finding: findingOf(rule, places) }];
  });
  return found.sort((a, b) => b.rule.weight - a.rule.weight).map(({ finding }) => finding);
}

function findingOf({ id, weight, title, section, countsFor, allows }: Rule, places: readonly string[]): AppFinding {
  const shown = places.slice(0, MAX_SEEN).map((place) => (place.length > MAX_PLACE ? `${place.slice(0, MAX_PLACE)}…` : place));
  const seen = places.length > MAX_SEEN ? [...shown, `and ${places.length - MAX_SEEN} more`] : shown;
  return { id, severity: severityOf(weight), title, section, counts_for: countsFor, allows, seen };
}

function severityOf(weight: number): Severity {
  if (weight >= 0.5) return 'critical';
  return weight >= 0.25 ? 'high' : 'warning';
}

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
