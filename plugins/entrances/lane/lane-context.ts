import { type EntranceRoutes } from '../../access-layer/entrance-routes';
import { type EntranceLog } from '../../access-layer/gateway-question';
import { type ReadOn } from '../../core/problems';

/** What all connections of a server share. */
export interface LaneContext {
  readonly routes: EntranceRoutes;
  readonly log: EntranceLog;
  readonly readOn: ReadOn | undefined;
  /** Receives reported responses, in lines (answer-line.ts). */
  readonly hear: (lines: string) => void;
  /** Counts up by one every {@link TICK_MS}: the clock of all deadlines. */
  tick: number;
}

export const TICK_MS = 500;
/** Shorter than the 6 s for which the Lua code waits. */
export const DECISION_TICKS = 5_000 / TICK_MS;
/** The deadline while the client's form arrives: longer than the longest form_key_timeout_ms. */
export const BODY_TICKS = 30_000 / TICK_MS;
