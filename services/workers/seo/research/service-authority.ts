import { estimated, type Figure } from '../figure';

/** Ten to the seventh: from rank ten million on, a rank is worth nothing. */
const POWERS = 7;

/** 100 for the first rank, 0 from the ten millionth on. */
export function rankScore(rank: number): number {
  return Math.max(0, 100 * (1 - Math.log10(rank) / POWERS));
}

/** A figure that the estimate may use, by its name in the response. */
export type AuthorityInput = 'open_page_rank' | 'tranco_rank' | 'cc_harmonic_rank';

interface Term {
  readonly score: (value: number) => number;
  readonly formula: string;
}

function ofRank(name: AuthorityInput): Term {
  return { score: rankScore, formula: `max(0, 100 * (1 - log10(${name}) / ${POWERS}))` };
}

const TERMS: Readonly<Record<AuthorityInput, Term>> = {
  open_page_rank: { score: (value) => value * 10, formula: '10 * open_page_rank' },
  tranco_rank: ofRank('tranco_rank'),
  cc_harmonic_rank: ofRank('cc_harmonic_rank'),
};

/** An estimate with its formula and the figures that it uses. */
export interface AuthorityEstimate extends Figure {
  readonly method: string;
  readonly inputs: readonly { readonly name: AuthorityInput; readonly value: number | null }[];
}

/**
 * The service's own estimate, from 0 to 100: the mean of the inputs' scores. It is null unless every input is known, because a mean of
 * fewer would be a different measure under the same name.
 * @param inputs that this installation uses, each with its reason when it has no value
 */
export function serviceAuthority(inputs: readonly { name: AuthorityInput; figure: Figure }[]): AuthorityEstimate {
  const scores = inputs.flatMap(({ name, figure: { value } }) => (value === null ? [] : [TERMS[name].score(value)]));
  const missing = inputs.find(({ figure }) => figure.value === null);
  const isKnown = inputs.length > 0 && missing === undefined;
  const mean = isKnown ? scores.reduce((sum, each) => sum + each, 0) / scores.length : null;
  const formulas = inputs.map(({ name }) => TERMS[name].formula);
  return {
    ...estimated(mean, 'score_0_100', missing?.figure.reason ?? 'not_configured'),
    method: formulas.length > 1 ? `mean(${formulas.join(', ')})` : (formulas[0] ?? 'none'),
    inputs: inputs.map(({ name, figure }) => ({ name, value: figure.value })),
  };
}
