/** Requests by decision of the access layer. */
export interface Outcomes {
  readonly admitted: number;
  readonly refused: number;
  readonly unavailable: number;
}

/** Outcomes in the order of a chart's stack. */
export const OUTCOMES = [
  { name: 'admitted', color: 'var(--chart-1)', count: ({ admitted }: Outcomes) => admitted },
  { name: 'refused', color: 'var(--chart-2)', count: ({ refused }: Outcomes) => refused },
  { name: 'could not be checked', color: 'var(--chart-4)', count: ({ unavailable }: Outcomes) => unavailable },
] as const;

/** `Admitted`, for the head of a table. */
export function outcomeTitle(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** All of them together. */
export function sumOutcomes(each: readonly Outcomes[]): Outcomes {
  const sum = (count: (of: Outcomes) => number): number => each.reduce((total, of) => total + count(of), 0);
  return { admitted: sum((of) => of.admitted), refused: sum((of) => of.refused), unavailable: sum((of) => of.unavailable) };
}
