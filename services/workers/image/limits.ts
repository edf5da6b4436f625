const MIB = 1_048_576;

/** What one call may cost. The service documents and enforces the first as well. */
export const IMAGE_LIMITS = {
  /** Of the picture as it was sent, after base64. */
  fileBytes: 10 * MIB,
  /** Of a cut-out. 4096 × 4096: 64 MiB in memory, more than a phone's 12-megapixel camera makes. */
  pixels: 16_777_216,
  /** Of the picture as it was sent, which is shrunk while it is decoded: what a camera of 50 megapixels makes (8688 × 5792). */
  sentPixels: 50_331_648,
  /** A smaller picture has no inside and outside to tell apart. */
  leastSide: 16,
  /** Of one gRPC message: a PNG of noise with the most pixels is a little larger than its pixels. */
  messageBytes: 68 * MIB,
} as const;

/** A cut-out that shows less or more than these shares of its picture shows nothing, or all of it: no background was removed. */
export const MIN_FOREGROUND = 0.005;
export const MAX_FOREGROUND = 0.99;

/**
 * GrabCut's confidence from which its cut-out is a success; below it is `cutout_uncertain`. Chosen on the photographs in test/fixtures: what
 * that means for precision and coverage stands in docs/products.md.
 */
export const CERTAIN_FROM = 0.65;
