import { type PlaceOwner } from '../../kit/places';
import { type Picture } from './picture';

export interface CutOut {
  /** With an alpha channel; of the picture's size, upright. */
  readonly png: Buffer;
  readonly engine: string;
  /** 0–1: how clear the cut is; null where the engine does not say. */
  readonly confidence: number | null;
  /** True where the cut is too unclear to be called a success; only for calls that accept this. */
  readonly isUncertain: boolean;
}

/** Whose picture it is. Its signal ends the work at once, with its reason as the error. */
export interface CutOutCall extends PlaceOwner {
  readonly signal: AbortSignal;
  /** Whether an uncertain cut-out is wanted in place of a failure. */
  readonly acceptUncertain?: boolean | undefined;
}

/** What removes backgrounds. */
export interface Engine {
  /**
   * @throws ServiceError 400 for a picture that cannot be decoded, 429 when too many of this subscription wait, 502 when no foreground is
   *   found, the cut is uncertain or the upstream fails, 503, 504
   */
  cutOut(picture: Picture, call: CutOutCall): Promise<CutOut>;
  close(): Promise<void>;
}
