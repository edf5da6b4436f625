import { listProblems } from '../../../plugins/core/problems';
import { listErrors } from '../../../services/openapi/error-table';

const CODES = listErrors();
const TITLES = new Map(listProblems().map(({ code, status, title }): [string, string] => [`${status} ${code}`, title]));

/** A refusal as a caller hears it. */
export interface HeardRefusal {
  readonly status: number;
  /** The problem's members; none of a gateway's answer that is no JSON. */
  readonly problem: { readonly code?: string; readonly title?: string };
}

/** Where a refusal is not what the pages of codes say of it: its status, its title where the table gives it one, and that it has a remedy. */
export function codeContradictions({ status, problem: { code = 'none', title } }: HeardRefusal): readonly string[] {
  const listed = CODES.find((each) => each.code === code);
  if (!listed?.failures.some((each) => each.status === status)) return [`${status} ${code} is not in the table of codes`];
  const expected = TITLES.get(`${status} ${code}`) ?? title;
  return [
    ...(title === expected ? [] : [`${status} ${code} is titled ${title}, and the table says ${expected}`]),
    ...(listed.remedy === '' ? [`${code} has no remedy`] : []),
  ];
}
