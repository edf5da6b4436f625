import { within } from '../../../kit/deadline';
import { FairLimit, ownerOf } from '../../../kit/fair-limit';
import { type Metrics } from '../../../kit/metrics';
import { linkPlaceOf } from '../../../kit/upstream/links-by-mode';
import { type UpstreamTarget } from '../../../kit/upstream/upstream-target';
import { watchExchange } from '../../../kit/upstream/watch-exchange';
import { type CutOutCall, type Engine } from '../engine';
import { cutOutUncertain } from '../failures';
import { type Picture, uprightPicture } from '../picture';
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
  // One at a time: where the file does not let itself be read in rows, its whole is held.
  const shrinking = new FairLimit({ atOnce: 1 });
  const prepare = (picture: Picture, call: CutOutCall): ReturnType<typeof uprightPicture> =>
    picture.isShrunk ? shrinking.run(ownerOf(call), () => uprightPicture(picture), { signal: call.signal }) : uprightPicture(picture);
  return {
    cutOut: async (picture, call) => {
      const { mode, signal } = call;
      const place = linkPlaceOf({ ...target, liveToken: token }, mode);
      const upright = await prepare(picture, call);
      const exchange = { ...place, picture: upright };
      const watched = { upstream: 'background_removal', metrics, signal };
      const frame = await watchExchange(watched, () =>
        within(timeoutMs, (either) => exchangePicture({ ...exchange, signal: either }), signal),
      );
      const { engine, confidence, uncertain: isUncertain } = frame;
      if (isUncertain && call.acceptUncertain !== true) throw cutOutUncertain(confidence ?? 0);
      return { png: await checkResult(frame, picture), engine, confidence, isUncertain };
    },
    close: () => Promise.resolve(),
  };
}
