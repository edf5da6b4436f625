import { type DenialCode } from '../../../contract/requests';

/** One choice of a select. */
export interface RequestChoice {
  readonly value: string;
  readonly label: string;
}

/** @param codes of refusals */
export function outcomeChoices(codes: readonly DenialCode[]): readonly RequestChoice[] {
  return [
    { value: '', label: 'Any outcome' },
    { value: 'admitted', label: 'Admitted' },
    { value: 'refused', label: 'Refused' },
    ...codes.map((code) => ({ value: code, label: code })),
  ];
}

export const STATUSES: readonly RequestChoice[] = [
  { value: '', label: 'Any status' },
  ...['2xx', '3xx', '4xx', '5xx', '401', '404', '429', '500', '502', '503', '504'].map((status) => ({ value: status, label: status })),
];

export const METHODS: readonly RequestChoice[] = [
  { value: '', label: 'Any method' },
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({ value: method, label: method })),
];

/** Milliseconds. */
export const DURATIONS: readonly RequestChoice[] = [
  { value: '', label: 'Any duration' },
  { value: '100', label: 'Over 100 ms' },
  { value: '1000', label: 'Over 1 s' },
  { value: '5000', label: 'Over 5 s' },
  { value: '30000', label: 'Over 30 s' },
];

/** Keeps the value of the address visible, even if it is none of the usual choices. */
export function withChosen(choices: readonly RequestChoice[], chosen: string | undefined): RequestChoice[] {
  const isKnown = choices.some(({ value }) => value === (chosen ?? ''));
  return isKnown || chosen === undefined ? [...choices] : [...choices, { value: chosen, label: chosen }];
}

/** The address of the request log without any filter. */
export const NO_FILTER = {
  ...{ key: undefined, product: undefined, outcome: undefined, status: undefined },
  ...{ method: undefined, path: undefined, slower: undefined, day: undefined },
};
