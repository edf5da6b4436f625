/** The parts of OpenCV's matrix that are used here. It lives in WebAssembly memory until `delete`. */
export interface Mat {
  readonly data: Uint8Array;
  readonly data32F: Float32Array;
  /** Numbers along each axis. */
  readonly matSize: readonly number[];
  delete(): void;
}

/** A neural network. */
export interface Net {
  setInput(blob: Mat): void;
  forward(output?: string): Mat;
  /** The caller deletes it. */
  getUnconnectedOutLayersNames(): { get(index: number): string; delete(): void };
}

/** The parts of OpenCV that are used here. The package's own types do not say that the module is a promise. */
export interface OpenCv {
  readonly Mat: new (rows?: number, columns?: number, type?: number) => Mat;
  readonly Rect: new (x: number, y: number, width: number, height: number) => object;
  readonly Size: new (width: number, height: number) => object;
  readonly Scalar: new (...values: readonly number[]) => object;
  readonly CV_8UC1: number;
  readonly CV_8UC3: number;
  readonly CV_32FC3: number;
  readonly CV_32F: number;
  readonly GC_INIT_WITH_MASK: number;
  setRNGSeed(seed: number): void;

  grabCut(image: Mat, mask: Mat, area: object, backModel: Mat, frontModel: Mat, iterations: number, mode: number): void;

  blobFromImage(image: Mat, scale: number, size: object, mean: object, swapsColours: boolean, crops: boolean, type: number): Mat;
  /** Reads a file's bytes. The variants without a number take a path. */
  readNetFromTFLite1(file: Uint8Array): Net;
  readNetFromONNX1(file: Uint8Array): Net;
  /** The reason of a failure that OpenCV threw as a number. */
  exceptionFromPtr(thrown: number): { readonly msg: string };
}

/** Loads OpenCV, which takes about a second. Call it in its own thread. */
export async function loadOpenCv(): Promise<OpenCv> {
  // The module is a promise, contrary to its types.
  const loaded: unknown = await import('@techstark/opencv-js');
  return (await Reflect.get(loaded as object, 'default')) as OpenCv;
}
