import { type ApiDocument, type ErrorCode } from '../contract/api-document';

/** Whether a request that ends with this code is charged, in words. */
export const CHARGES: Readonly<Record<ErrorCode['failures'][number]['charge'], string>> = {
  'not taken': 'No',
  'given back': 'No: the unit is given back',
  charged: 'Yes',
};

/** The ids of the products that declare a code; none if most do, or none does, because such a list would say nothing. */
export function sendersOf({ paths }: ApiDocument, code: string): readonly string[] {
  const declared = new Map<string, boolean>();
  for (const { tags, responses } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const codes = Object.values(responses).flatMap((each) => each['x-codes'] ?? []);
    // A product of somebody else's service declares no codes at all.
    if (codes.length > 0) declared.set(tags[0], (declared.get(tags[0]) ?? false) || codes.includes(code));
  }
  const senders = [...declared].flatMap(([product, sends]) => (sends ? [product] : []));
  return senders.length > declared.size / 2 ? [] : senders;
}

/** A success status other than 200, with its operations. */
export interface OtherSuccess {
  readonly status: string;
  readonly description: string;
  /** Operations such as `GET /weather/{city}`. */
  readonly operations: readonly string[];
}

/** Statuses below 400 other than 200. */
export function otherSuccesses({ paths }: ApiDocument): readonly OtherSuccess[] {
  const found = new Map<string, OtherSuccess>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { responses }] of Object.entries(methods)) {
      for (const [status, { description }] of Object.entries(responses)) {
        if (!/^[123]\d\d$/.test(status) || status === '200') continue;
        const known = found.get(status) ?? { status, description, operations: [] };
        found.set(status, { ...known, operations: [...known.operations, `${method.toUpperCase()} ${path}`] });
      }
    }
  }
  return [...found.values()].sort((one, other) => Number(one.status) - Number(other.status));
}
