/** Levels of 255 between the darkest and the brightest pixel that a JPEG of one colour may show: its rounding. */
const ROUNDING = 2;

/** True when no channel varies. @param rgba four bytes a pixel */
export function isOfOneColour(rgba: Uint8Array): boolean {
  const lowest = new Uint8Array(rgba.subarray(0, 4));
  const highest = new Uint8Array(lowest);
  for (let at = 4; at < rgba.length; at++) {
    const [channel, value] = [at & 3, rgba[at] ?? 0];
    if (value < (lowest[channel] ?? 0)) lowest[channel] = value;
    if (value > (highest[channel] ?? 0)) highest[channel] = value;
    if ((highest[channel] ?? 0) - (lowest[channel] ?? 0) > ROUNDING) return false;
  }
  return true;
}
