import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { type Photograph } from '../../test/workers/image/photographs';

/** The place of a photograph, and its subject. The photograph itself is not in the repository. */
interface Described {
  readonly registry: 'npm' | 'Debian 12';
  readonly package: string;
  readonly version: string;
  /** Its path in the package. */
  readonly file: string;
  /** The licence in the package's copyright file. */
  readonly licence: string;
  /** True if it was judged once, with bounds that were chosen on all the others. */
  readonly isJudged?: boolean;
  /** Outlines drawn by hand: points in percent of width and height. Without them, the photograph has no subject. */
  readonly subject?: readonly string[];
  /** Background inside the subject. */
  readonly openings?: readonly string[];
  /** Parts that are neither right nor wrong: another person, leaves in front. */
  readonly unjudged?: readonly string[];
}

const DESCRIBED = JSON.parse(readFileSync(join(__dirname, 'photographs.json'), 'utf8')) as Readonly<Record<string, Described>>;
/** The size of the photographs in test/fixtures. */
const LONGEST_SIDE = 640;

/** Names of all described photographs, in order. */
export function packagePhotographNames(): string[] {
  return Object.keys(DESCRIBED).sort();
}

/** The half that a described photograph belongs to. All photographs in test/fixtures belong to the first. */
export function halfOf(name: string): 'chosen' | 'judged' {
  return DESCRIBED[name]?.isJudged === true ? 'judged' : 'chosen';
}

function polygons(outlines: readonly string[] | undefined, colour: string): string {
  return (outlines ?? []).map((points) => `<polygon points="${points}" fill="${colour}"/>`).join('');
}

/** White is subject, black background, grey neither right nor wrong. */
function drawMask({ subject, openings, unjudged }: Described, width: number, height: number): Promise<Buffer> {
  const shapes = polygons(unjudged, '#808080') + polygons(subject, '#fff') + polygons(openings, '#000');
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 100 100" preserveAspectRatio="none"
    shape-rendering="crispEdges">${shapes}</svg>`;
  return sharp(Buffer.from(svg)).flatten({ background: '#000' }).toColourspace('b-w').raw({ depth: 'uchar' }).toBuffer();
}

/** @param folder contains each package, unpacked, in a folder of its name */
export async function readPackagePhotograph(name: string, folder: string): Promise<Photograph> {
  const described = DESCRIBED[name];
  if (!described) throw new Error(`photographs.json describes no ${name}`);
  const { data, info } = await sharp(join(folder, described.package, described.file))
    .resize(LONGEST_SIDE, LONGEST_SIDE, { fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: 88 })
    .toBuffer({ resolveWithObject: true });
  return { name, jpeg: data, mask: described.subject && new Uint8Array(await drawMask(described, info.width, info.height)) };
}
