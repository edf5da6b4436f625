import { z } from 'zod';
import { badAnswer } from './source-failure';
import { type HolderRecord } from './upstreams';

const text = z.string().max(500).nullish();

/** Other members are dropped: nothing unknown about a person is passed on. */
const holder = z.object({
  name: z.string().min(1).max(500),
  date_of_birth: text,
  gender: text,
  care_of: text,
  address: z.record(z.string(), z.unknown()).nullish(),
  photo_base64: z
    .string()
    .regex(/^[A-Za-z0-9+/]*={0,2}$/)
    .nullish(),
  reference_id: text,
});

const ADDRESS_FIELD = /^[a-z][a-z0-9_]{0,30}$/;
const MAX_ADDRESS_FIELDS = 30;

function addressOf(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  const usable = Object.entries(fields).filter(
    (entry): entry is [string, string] => ADDRESS_FIELD.test(entry[0]) && typeof entry[1] === 'string' && entry[1].length <= 500,
  );
  return Object.fromEntries(usable.slice(0, MAX_ADDRESS_FIELDS));
}

/**
 * Reads a holder's record, which is the same over the link and from a provider.
 * @throws ServiceError 502
 */
export function parseHolderRecord(payload: unknown): HolderRecord {
  const parsed = holder.safeParse(payload);
  if (!parsed.success) throw badAnswer('a result has the wrong form');
  const { data } = parsed;
  return {
    name: data.name,
    dateOfBirth: data.date_of_birth ?? undefined,
    gender: data.gender ?? undefined,
    careOf: data.care_of ?? undefined,
    address: addressOf(data.address ?? {}),
    photoBase64: data.photo_base64 ?? undefined,
    referenceId: data.reference_id ?? undefined,
  };
}
