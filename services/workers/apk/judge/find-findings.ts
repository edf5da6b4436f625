import { type AppFinding, type Severity } from '../report';
import { type Rule } from './rule';
import { RULES } from './rules';
import { type JudgedFacts } from './sight';

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
