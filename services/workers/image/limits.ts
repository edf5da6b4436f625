const MIB = 1_048_576;

/** Bounds of one call. The service documents and enforces the first as well. */
export const IMAGE_LIMITS = {
  /** Bytes of the picture as sent, after base64. */
  fileBytes: 10 * MIB,
  /** Pixels of a cut-out: 4096 × 4096 take 64 MiB in memory. A phone's 12-megapixel camera makes fewer. */
  pixels: 16_777_216,
  /** Pixels of the picture as sent, which is shrunk while it is decoded: a camera of 50 megapixels makes 8688 × 5792. */
  sentPixels: 50_331_648,
  /** A smaller picture has no distinguishable inside and outside. */
  leastSide: 16,
  /** Bytes of one gRPC message. A PNG of noise with the most pixels is a little larger than its pixels. */
  messageBytes: 68 * MIB,
} as const;

/**
 * GrabCut's cut-out is a success from this confidence on; below it, the failure is `cutout_uncertain`. The value was chosen on the
 * photographs in test/fixtures; docs/products.md gives its precision and coverage.
 */
export const CERTAIN_FROM = 0.65;
