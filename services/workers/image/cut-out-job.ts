import { type OnnxModel } from './onnx/onnx-model';

/** The method of a thread: GrabCut with the people model, or the platform engineer's model. */
export type ThreadMethod = { readonly kind: 'grabcut' } | { readonly kind: 'onnx'; readonly model: OnnxModel };

/** Four bytes for each pixel. */
export interface Pixels {
  readonly rgba: Uint8Array<ArrayBuffer>;
  readonly width: number;
  readonly height: number;
}

/** A thread's job: the picture, and the same picture at the size on which the method works. */
export interface CutOutJob {
  readonly picture: Pixels;
  readonly small: Pixels;
  /** From 0 to 1. A cut-out with less confidence is not wanted. */
  readonly leastConfidence: number;
}

/** A thread's reply, sent once for each job. */
export type CutOutAnswer =
  | { readonly kind: 'cut_out'; readonly rgba: Uint8Array<ArrayBuffer>; readonly engine: string; readonly confidence: number }
  | { readonly kind: 'unclear'; readonly confidence: number }
  | { readonly kind: 'no_foreground' }
  | { readonly kind: 'failed'; readonly message: string };

export interface Foreground {
  /** From 0 to 1 for each pixel. */
  readonly alpha: Float32Array;
  /** From 0 to 1: how clear the cut is. */
  readonly confidence: number;
  /** The engine that found it. */
  readonly engine: string;
}

/** No cut-out. Its confidence, from 0 to 1, is below the required one; it is 0 when no guess is believable. */
export interface Unclear {
  readonly alpha: undefined;
  readonly confidence: number;
}

/** Finds the foreground of a small picture; undefined when there certainly is none. */
export type ForegroundFinder = (small: Pixels, leastConfidence: number) => Promise<Foreground | Unclear | undefined>;
