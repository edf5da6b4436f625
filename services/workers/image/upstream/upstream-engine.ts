import { within } from '../../../kit/deadline';
import { type Metrics } from '../../../kit/metrics';
import { linkPlaceOf } from '../../../kit/upstream/links-by-mode';
import { type UpstreamTarget } from '../../../kit/upstream/upstream-target';
import { watchExchange } from '../../../kit/upstream/watch-exchange';
import { type Engine } from '../engine';
import { uprightPicture } from '../picture';
import { checkResult } from './check-result';
import { exchangePicture } from './exchange';

export interface UpstreamEngineOptions {
  readonly target: UpstreamTarget;
  /** For the live upstream only. */
  readonly token: string | undefined;
  /** Milliseconds from the connection to the result. */
  readonly timeoutMs: number;
  readonly metrics?: Metrics | undefined;
}

/** Removes backgrounds by asking a background-removal WebSocket. */
export function createUpstreamEngine({ target, token, timeoutMs, metrics }: UpstreamEngineOptions): Engine {
  return {
    cutOut: async (picture, { mode, signal }) => {
      const place = linkPlaceOf({ ...target, liveToken: token }, mode);
      const upright = await uprightPicture(picture);
      const exchange = { ...place, picture: upright };
      const watched = { upstream: 'background_removal', metrics, signal };
      const frame = await watchExchange(watched, () =>
        within(timeoutMs, (either) => exchangePicture({ ...exchange, signal: either }), signal),
      );
      return { png: await checkResult(frame, picture), engine: frame.engine, confidence: frame.confidence };
    },
    close: () => Promise.resolve(),
  };
}
