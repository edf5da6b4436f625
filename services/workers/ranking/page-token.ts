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
  /** The part of the area that it is in, from 0; 0 where the area is one. */
  readonly tile: number;
}

/** A search that goes on from page to page. */
export interface PagedQuery {
  readonly query: PlaceQuery;
  /** Tiles a side; undefined where the area is not split. */
  readonly grid?: number | undefined;
}

/** An upstream's token goes on with its own query only, so ours remembers which one that was. */
function fingerprint({ query, grid }: PagedQuery): string {
  const { text, bias, countryCode, languageCode } = query;
  const facts = [
    text,
    bias?.center.latitude,
    bias?.center.longitude,
    bias?.radiusKm,
    countryCode,
    languageCode,
    ...(grid === undefined ? [] : [grid]),
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 16);
}

/** The tile is absent where the area is not split. */
const wireToken = z.tuple([z.string().length(16), z.int().min(0).max(1_000), z.string(), z.int().min(0).max(1_000).optional()]);

export function formatPageToken(search: PagedQuery, { upstreamToken, skip, tile }: PagePoint): string {
  const facts = [fingerprint(search), skip, upstreamToken ?? '', ...(search.grid === undefined ? [] : [tile])];
  return Buffer.from(JSON.stringify(facts)).toString('base64url');
}

export function invalidPageToken(): ReturnType<typeof invalidInput> {
  return invalidInput([{ field: 'page_token', message: 'is not one of this search, or has expired' }], 422);
}

/** @throws ServiceError 422 when it is not one of our tokens or belongs to another query */
export function parsePageToken(search: PagedQuery, token: string): PagePoint {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
  } catch {
    throw invalidPageToken();
  }
  const parsed = wireToken.safeParse(value);
  if (!parsed.success || parsed.data[0] !== fingerprint(search)) throw invalidPageToken();
  const [, skip, upstreamToken, tile = 0] = parsed.data;
  return { skip, tile, upstreamToken: upstreamToken === '' ? undefined : upstreamToken };
}
