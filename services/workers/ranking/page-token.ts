import { createHash } from 'node:crypto';
import { z } from 'zod';
import { invalidInput } from '../../kit/errors';
import { type PlaceQuery } from './ranking-upstream';

/** Where the next page of leads starts. */
export interface PagePoint {
  /** The upstream's token of the page; undefined for its first one. */
  readonly upstreamToken: string | undefined;
  /** Places of that page that were already looked at. */
  readonly skip: number;
}

/** An upstream's token goes on with its own query only, so ours remembers which one that was. */
function fingerprint(query: PlaceQuery): string {
  const { text, bias, countryCode, languageCode } = query;
  const facts = [text, bias?.center.latitude, bias?.center.longitude, bias?.radiusKm, countryCode, languageCode];
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 16);
}

const wireToken = z.tuple([z.string().length(16), z.int().min(0).max(1_000), z.string()]);

export function formatPageToken(query: PlaceQuery, { upstreamToken, skip }: PagePoint): string {
  return Buffer.from(JSON.stringify([fingerprint(query), skip, upstreamToken ?? ''])).toString('base64url');
}

export function invalidPageToken(): ReturnType<typeof invalidInput> {
  return invalidInput([{ field: 'page_token', message: 'is not one of this search, or has expired' }], 422);
}

/** @throws ServiceError 422 when it is no token of ours or belongs to another query */
export function parsePageToken(query: PlaceQuery, token: string): PagePoint {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
  } catch {
    throw invalidPageToken();
  }
  const parsed = wireToken.safeParse(value);
  if (!parsed.success || parsed.data[0] !== fingerprint(query)) throw invalidPageToken();
  const [, skip, upstreamToken] = parsed.data;
  return { skip, upstreamToken: upstreamToken === '' ? undefined : upstreamToken };
}
