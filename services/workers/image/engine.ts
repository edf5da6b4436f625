import { type PlaceOwner } from '../../kit/places';
import { type Picture } from './picture';

export interface CutOut {
  /** Upright, with an alpha channel, at the picture's size. */
  readonly png: Buffer;
  readonly engine: string;
  /** From 0 to 1: how clear the cut is; null when the engine does not say. */
  readonly confidence: number | null;
  /** True when the cut is too unclear to count as a success. Only calls that accept this get such a cut-out. */
  readonly isUncertain: boolean;
}

/** The owner of the picture. The signal ends the work at once, with its reason as the error. */
export interface CutOutCall extends PlaceOwner {
  readonly signal: AbortSignal;
  /** True to get an uncertain cut-out instead of a failure. */
  readonly acceptUncertain?: boolean | undefined;
}

/** Removes backgrounds. */
export interface Engine {
  /**
   * @throws ServiceError 400 for a picture that cannot be decoded, 429 when too many calls of this subscription wait, 502 when no
   * foreground is found, the cut is uncertain or the upstream fails, 503, 504
   */
  cutOut(picture: Picture, call: CutOutCall): Promise<CutOut>;
  close(): Promise<void>;
}
