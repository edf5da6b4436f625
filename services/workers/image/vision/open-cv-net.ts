import { type Mat, type Net, type OpenCv } from './open-cv';

/** OpenCV throws a number. This turns it into an error with the reason. */
function withReason<T>(cv: OpenCv, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw typeof error === 'number' ? new Error(cv.exceptionFromPtr(error).msg.trim()) : error;
  }
}

/** Reads a network that takes a square picture. @throws Error when OpenCV cannot read it */
export function readNet(cv: OpenCv, file: Uint8Array, format: 'onnx' | 'tflite'): Net {
  return withReason(cv, () => (format === 'tflite' ? cv.readNetFromTFLite1(file) : cv.readNetFromONNX1(file)));
}

/** A matrix of 1 × 3 × size × size numbers. OpenCV for JavaScript can create four axes only from a picture. */
function blobOf(cv: OpenCv, size: number): Mat {
  const blank = new cv.Mat(size, size, cv.CV_32FC3);
  try {
    return cv.blobFromImage(blank, 1, new cv.Size(size, size), new cv.Scalar(0, 0, 0, 0), false, false, cv.CV_32F);
  } finally {
    blank.delete();
  }
}

/**
 * Runs a network and returns its first output.
 * @param input planes of red, green and blue, each of size × size
 * @throws Error when the network does not accept the input
 */
export function runNet(
  cv: OpenCv,
  net: Net,
  { input, size }: { readonly input: Float32Array; readonly size: number },
): {
  data: Float32Array;
  dims: readonly number[];
} {
  const blob = blobOf(cv, size);
  try {
    return withReason(cv, () => {
      blob.data32F.set(input);
      net.setInput(blob);
      const names = net.getUnconnectedOutLayersNames();
      const output = net.forward(names.get(0));
      names.delete();
      const found = { data: output.data32F.slice(), dims: [...output.matSize] };
      output.delete();
      return found;
    });
  } finally {
    blob.delete();
  }
}
