import { Transform, type TransformCallback } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { type LinkGrant } from '../../../plugins/core/proof/access-link';
import { type Clock } from '../../../plugins/core/ports';
import { ServiceError } from '../../kit/errors';

/** A player reads one range and opens the next before it drops the last. A download in parts would take more. */
const MAX_AT_ONCE = 4;
/** Requests of a viewing: a seek each second for an hour. */
const MAX_REQUESTS = 3_600;
/** Maximum viewings remembered, about 200 bytes each. Each one cost a unit. */
const MAX_VIEWINGS = 100_000;

interface Viewing {
  bytes: number;
  requests: number;
  open: number;
}

/** One request's share of a viewing. */
export interface ViewingShare {
  /** Put between source and client: counts the bytes, and ends the stream when the viewing is used up. */
  count(): Transform;
  /** Call it however the request ends. Further calls do nothing. */
  end(): void;
}

/** The use of viewings that links grant. Each replica of the service counts for itself, until the link expires. */
export class Viewings {
  private readonly known: LRUCache<string, Viewing>;

  constructor(private readonly clock: Clock) {
    this.known = new LRUCache({ max: MAX_VIEWINGS, ttlResolution: 0, perf: { now: () => clock.now() } });
  }

  /** @throws ServiceError 401 when the viewing is used up, 429 when too many of its requests are running */
  admit({ viewing: id, allowance, expiresAt }: LinkGrant): ViewingShare {
    const viewing = this.known.get(id) ?? { bytes: 0, requests: 0, open: 0 };
    if (viewing.bytes >= allowance || viewing.requests >= MAX_REQUESTS) {
      throw new ServiceError('link_not_valid', { detail: 'The viewing that this link paid for is used up. Create another link.' });
    }
    if (viewing.open >= MAX_AT_ONCE) {
      throw new ServiceError('concurrency_exceeded', { detail: `A link may have at most ${MAX_AT_ONCE} requests running.` });
    }
    viewing.requests += 1;
    viewing.open += 1;
    // The access layer refuses the link after its expiry. The extra minute allows for other clocks.
    this.known.set(id, viewing, { ttl: Math.max(1, expiresAt * 1000 - this.clock.now()) + 60_000 });
    let isOver = false;
    return {
      count: () => new CountedBytes(viewing, allowance),
      end: () => {
        if (!isOver) viewing.open -= 1;
        isOver = true;
      },
    };
  }
}

class CountedBytes extends Transform {
  constructor(
    private readonly viewing: Viewing,
    private readonly allowance: number,
  ) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.viewing.bytes += chunk.length;
    if (this.viewing.bytes > this.allowance) done(new Error('the viewing is used up'));
    else done(null, chunk);
  }
}
