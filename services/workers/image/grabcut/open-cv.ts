/** The parts of OpenCV's matrix that are used here. It lives in WebAssembly memory until `delete`. */
interface Mat {
  readonly data: Uint8Array;
  delete(): void;
}

/** The parts of OpenCV that are used here. The package's own types do not say that the module is a promise. */
export interface OpenCv {
  readonly Mat: new (rows?: number, columns?: number, type?: number) => Mat;
  readonly Rect: new (x: number, y: number, width: number, height: number) => object;
  readonly CV_8UC1: number;
  readonly CV_8UC3: number;
  readonly GC_INIT_WITH_MASK: number;
  setRNGSeed(seed: number): void;

  grabCut(image: Mat, mask: Mat, area: object, backModel: Mat, frontModel: Mat, iterations: number, mode: number): void;
}
