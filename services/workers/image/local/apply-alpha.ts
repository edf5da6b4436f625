import { resizePlane, type Size } from '../grabcut/raster';

/** Contrast added to a mask that is enlarged, so that its outline stays sharp: half of the enlargement, three at most. */
const SHARPENING = 0.5;
const MAX_SHARPENING = 3;

/** Rows enlarged at a time: the plane of a whole large picture would take four more bytes a pixel. */
const BAND_ROWS = 64;

/**
 * Gives a picture the alpha of a smaller mask; what was transparent stays so. Colours under alpha 0 are erased: a cut-out must not carry
 * its background along.
 * @param rgba four bytes a pixel, changed in place
 * @param mask 0–1 a pixel, of `maskSize`
 * @returns mean alpha, 0–1
 */
export function applyAlpha(rgba: Uint8Array, size: Size, mask: { readonly alpha: Float32Array } & Size): number {
  const enlargement = Math.max(size.width / mask.width, size.height / mask.height);
  const contrast = Math.min(Math.max(1 + (enlargement - 1) * SHARPENING, 1), MAX_SHARPENING);
  let sum = 0;
  for (let top = 0; top < size.height; top += BAND_ROWS) {
    const rows = Math.min(BAND_ROWS, size.height - top);
    const band = resizePlane(mask.alpha, mask, size, { top, rows });
    for (let index = 0; index < band.length; index++) {
      const at = (top * size.width + index) * 4;
      const share = Math.min(Math.max(((band[index] ?? 0) - 0.5) * contrast + 0.5, 0), 1);
      const alpha = Math.round(share * (rgba[at + 3] ?? 0));
      if (alpha === 0) rgba[at] = rgba[at + 1] = rgba[at + 2] = 0;
      rgba[at + 3] = alpha;
      sum += alpha;
    }
  }
  return sum / 255 / (size.width * size.height);
}
