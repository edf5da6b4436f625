import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';

const FOLDER = join(__dirname, '../../fixtures/photographs');

/** A cut-out whose intersection over union with the subject is at least this is usable; one with less has lost a part or kept background. */
export const GOOD_IOU = 0.85;

/** One of test/fixtures/photographs, whose ORIGIN.md says where it is from. */
export interface Photograph {
  readonly name: string;
  readonly jpeg: Buffer;
  /** 255 is subject, 0 background, 128 neither right nor wrong; undefined without a subject. */
  readonly mask: Uint8Array | undefined;
}

/** Names of all photographs, in their order. */
export function photographNames(folder = FOLDER): string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.jpg'));
  return files.map((file) => file.slice(0, -'.jpg'.length)).sort();
}

export async function readPhotograph(name: string, folder = FOLDER): Promise<Photograph> {
  const file = join(folder, `${name}.mask.png`);
  const jpeg = await readFile(join(folder, `${name}.jpg`));
  if (!existsSync(file)) return { name, jpeg, mask: undefined };
  return { name, jpeg, mask: await sharp(file).toColourspace('b-w').raw({ depth: 'uchar' }).toBuffer() };
}

/** Intersection over union of what is at least half opaque with the subject; 0 for any cut-out of a picture without one. */
export async function iouOf(png: Buffer, { mask }: Pick<Photograph, 'mask'>): Promise<number> {
  if (!mask) return 0;
  const alpha = await sharp(png).extractChannel('alpha').raw({ depth: 'uchar' }).toBuffer();
  let [both, either] = [0, 0];
  for (let at = 0; at < mask.length; at++) {
    if (mask[at] === 128) continue;
    const [isFound, isTrue] = [(alpha[at] ?? 0) >= 128, mask[at] === 255];
    if (isFound && isTrue) both++;
    if (isFound || isTrue) either++;
  }
  return either === 0 ? 0 : both / either;
}
