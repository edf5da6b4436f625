import { type Foreground, type Unclear } from './grabcut/find-foreground';
import { type OnnxModel } from './onnx/onnx-model';

/** The method that a thread uses. */
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
  /** From 0 to 1. A cut-out less clear than this is not wanted. */
  readonly leastConfidence: number;
}

/** A thread's reply, once for each job. */
export type CutOutAnswer =
  | { readonly kind: 'cut_out'; readonly rgba: Uint8Array<ArrayBuffer>; readonly confidence: number | null }
  | { readonly kind: 'unclear'; readonly confidence: number }
  | { readonly kind: 'no_foreground' }
  | { readonly kind: 'failed'; readonly message: string };

/** Finds the foreground of a small picture; undefined when there certainly is none. */
export type ForegroundFinder = (small: Pixels, leastConfidence: number) => Promise<Foreground | Unclear | undefined>;
