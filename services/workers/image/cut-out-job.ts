import { type Foreground, type Unclear } from './grabcut/find-foreground';
import { type OnnxModel } from './onnx/onnx-model';

/** Which method a thread uses. */
export type ThreadMethod = { readonly kind: 'grabcut' } | { readonly kind: 'onnx'; readonly model: OnnxModel };

/** Four bytes a pixel. */
export interface Pixels {
  readonly rgba: Uint8Array<ArrayBuffer>;
  readonly width: number;
  readonly height: number;
}

/** What a thread is asked: the picture, and the same at the size on which the method works. */
export interface CutOutJob {
  readonly picture: Pixels;
  readonly small: Pixels;
  /** 0–1: a cut-out less clear than this is not wanted. */
  readonly leastConfidence: number;
}

/** What a thread answers, once a job. */
export type CutOutAnswer =
  | { readonly kind: 'cut_out'; readonly rgba: Uint8Array<ArrayBuffer>; readonly confidence: number | null }
  | { readonly kind: 'unclear'; readonly confidence: number }
  | { readonly kind: 'no_foreground' }
  | { readonly kind: 'failed'; readonly message: string };

/** Finds the foreground of a small picture; undefined when there is surely none. */
export type ForegroundFinder = (small: Pixels, leastConfidence: number) => Promise<Foreground | Unclear | undefined>;
