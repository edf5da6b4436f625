import { z } from 'zod';
import { putFile } from '../../kit/data-files/put-file';
import { readSource, type SourceOptions } from '../../kit/data-files/read-source';

/** The value of `X-Upstream-Provider`. */
export const INDIA_FILE = 'geonames-file';

/** A place of an Indian PIN. */
interface IndianPlace {
  readonly name: string;
  readonly state: string;
  readonly district: string;
  readonly block: string;
  readonly latitude: number | null;
  readonly longitude: number | null;
}

/** GeoNames' postal codes of India (CC BY 4.0), in memory. */
export interface IndiaFile {
  /** Null if the file does not say. */
  readonly asOf: Date | null;
  readonly pins: number;
  /** Empty for an unknown PIN. */
  find(pin: string): readonly IndianPlace[];
}

/** The file does not contain those postal codes. */
export class BadIndiaFile extends Error {
  override readonly name = 'BadIndiaFile';
}

/** Half the number that GeoNames has. */
const MIN_PINS = 10_000;
/** Country, PIN, name, state, its code, district, its code, block, its code, latitude, longitude, accuracy. */
const COLUMNS = 12;
/** Lines between two pauses: some milliseconds of work, so that the service stays responsive. */
const SLICE = 1_000;
const HEAD = '# ';
const headSchema = z.object({ asOf: z.iso.datetime().nullable() });
const NEWLINE = 0x0a;

function dateOf(line: string): Date | null {
  try {
    const { asOf } = headSchema.parse(JSON.parse(line.slice(HEAD.length)));
    return asOf === null ? null : new Date(asOf);
  } catch (cause) {
    throw new BadIndiaFile('its first line cannot be read', { cause });
  }
}

function coordinateOf(text: string | undefined): number | null {
  const value = text === undefined || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

function placeOf(line: string): IndianPlace {
  const [, , name = '', state = '', , district = '', , block = '', , latitude, longitude] = line.split('\t');
  return { name, state, district, block, latitude: coordinateOf(latitude), longitude: coordinateOf(longitude) };
}

/**
 * Reads GeoNames' `IN.txt`, or the file that {@link updateIndiaFile} made from it. Lines stay bytes until they are looked up.
 * @throws BadIndiaFile
 */
export async function parseIndiaFile(bytes: Buffer): Promise<IndiaFile> {
  const lines = new Map<string, number[]>();
  let asOf: Date | null = null;
  let read = 0;
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, start);
    const stop = end < 0 ? bytes.length : end;
    const line = bytes.toString('utf8', start, stop).replace(/\r$/, '');
    if (start === 0 && line.startsWith(HEAD)) asOf = dateOf(line);
    else if (line !== '') {
      const [country, pin = '', , ...others] = line.split('\t');
      if (country !== 'IN' || !/^\d{6}$/.test(pin) || others.length !== COLUMNS - 3)
        throw new BadIndiaFile('it is not GeoNames’ list of postal codes of India');
      const known = lines.get(pin);
      if (known) known.push(start, stop);
      else lines.set(pin, [start, stop]);
    }
    start = stop + 1;
    if (++read % SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  if (lines.size < MIN_PINS) throw new BadIndiaFile(`it has ${lines.size} PINs, but never had fewer than ${MIN_PINS}`);
  return {
    asOf,
    pins: lines.size,
    find(pin) {
      const places: IndianPlace[] = [];
      const at = lines.get(pin) ?? [];
      for (let index = 0; index < at.length; index += 2) places.push(placeOf(bytes.toString('utf8', at[index], at[index + 1]).trimEnd()));
      return places;
    },
  };
}

const known = (text: string): string | null => (text === '' ? null : text);

/** The attribution that GeoNames requires wherever its data is shown. */
export const GEONAMES = 'GeoNames (CC BY 4.0)';

/** The same with the date of the data. */
export const attributionOf = ({ asOf }: Pick<IndiaFile, 'asOf'>): string =>
  `${GEONAMES}${asOf ? `, data of ${asOf.toISOString().slice(0, 10)}` : ''}`;

/** A PIN's places in the form of India's provider, with null for facts that GeoNames does not have. Undefined for an unknown PIN. */
export function indiaAnswer(file: IndiaFile, pin: string): Buffer | undefined {
  const places = file.find(pin);
  if (places.length === 0) return undefined;
  const offices = places.map(({ name, state, district, block, latitude, longitude }) => ({
    ...{ Name: name, Description: null, BranchType: null, DeliveryStatus: null, Circle: null },
    ...{ District: known(district), Division: null, Region: null, Block: known(block), State: known(state) },
    ...{ Country: 'India', Pincode: pin, Latitude: latitude, Longitude: longitude },
  }));
  return Buffer.from(
    JSON.stringify([
      { Message: `Number of pincode(s) found:${places.length}, by ${attributionOf(file)}`, Status: 'Success', PostOffice: offices },
    ]),
  );
}

export interface IndiaFileUpdate extends SourceOptions {
  /** Path of the file. */
  readonly path: string;
  readonly source: string;
  /** Date of the data. Default: the source's date. */
  readonly asOf?: Date | undefined;
}

/**
 * Replaces the file with GeoNames' `IN.txt` after that was read completely. If anything goes wrong, the previous file stays.
 * @throws BadIndiaFile, or the file's or connection's error
 */
export async function updateIndiaFile({ path, source, asOf, ...options }: IndiaFileUpdate): Promise<void> {
  const { bytes, changedAt } = await readSource(source, options);
  const { asOf: own } = await parseIndiaFile(bytes);
  const head = `${HEAD}${JSON.stringify({ asOf: (asOf ?? own ?? changedAt)?.toISOString() ?? null })}\n`;
  const start = bytes.toString('latin1', 0, HEAD.length) === HEAD ? bytes.indexOf(NEWLINE) + 1 : 0;
  await putFile(path, Buffer.concat([Buffer.from(head), bytes.subarray(start)]));
}
