import { type KeyMode } from '../../../plugins/core/ports';
import { type Picture } from './picture';

export interface CutOut {
  /** With an alpha channel; of the picture's size, upright. */
  readonly png: Buffer;
  readonly engine: string;
}

/** What removes backgrounds. */
export interface Engine {
  /**
   * @param signal ends the work at once, with its reason as the error
   * @throws ServiceError 400 for a picture that cannot be decoded, 502 when no foreground is found or the upstream fails, 503, 504
   */
  cutOut(picture: Picture, call: { readonly mode: KeyMode; readonly signal: AbortSignal }): Promise<CutOut>;
  close(): Promise<void>;
}
