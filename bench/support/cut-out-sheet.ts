import sharp, { type OverlayOptions } from 'sharp';

/** A photograph and its cut-out. */
export interface Shown {
  readonly photograph: Buffer;
  readonly cutOut: Buffer;
}

/** Pixels of the place for a photograph, and for the cut-out beside it. */
const PLACE = 112;
const COLUMNS = 6;
const GAP = 8;
/** A colour that no subject has, so that remains of a background can be seen on it. */
const GROUND = '#d7e9f7';

async function place(picture: Buffer, left: number, top: number): Promise<OverlayOptions> {
  const input = await sharp(picture).resize(PLACE, PLACE, { fit: 'contain', background: '#fff0' }).png().toBuffer();
  return { input, left, top };
}

/** A JPEG of all photographs, each with its cut-out to its right. */
export async function drawSheet(all: readonly Shown[]): Promise<Buffer> {
  const [across, down] = [2 * PLACE + GAP, PLACE + GAP];
  const places: OverlayOptions[] = [];
  for (const [index, { photograph, cutOut }] of all.entries()) {
    const [left, top] = [GAP + (index % COLUMNS) * across, GAP + Math.floor(index / COLUMNS) * down];
    places.push(await place(photograph, left, top), await place(cutOut, left + PLACE, top));
  }
  const [width, height] = [GAP + Math.min(COLUMNS, all.length) * across, GAP + Math.ceil(all.length / COLUMNS) * down];
  return sharp({ create: { width, height, channels: 3, background: GROUND } })
    .composite(places)
    .jpeg({ quality: 80 })
    .toBuffer();
}
