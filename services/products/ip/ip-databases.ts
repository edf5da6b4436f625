import { Reader, type Response } from 'maxmind';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { formatIpAddress, type IpAddress, networkValue } from '../../../plugins/core/access/ip-address';
import { type AsnFacts, type AsnRanges, type AsnTable, createAsnTable } from './asn-table';
import { type AnonymityFacts, type PlaceFacts, readAnonymity, readAsn, readIpRisk, readPlace, readStaticScore, textAt } from './ip-records';
import { parseAsnCsv } from './parse-asn-csv';
import { openReloadingFile, type ReloadingFile } from '../../kit/data-files/reloading-file';
import { openRenewedFiles } from '../../kit/data-files/renewed-files';
import { type TableId } from './tables/update-table';

/** A kind of file and the date of its data; null if the file does not say. */
export interface DataFile {
  readonly source: string;
  readonly builtAt: Date | null;
}

/** The files on disk that look-ups use. */
export interface IpDatabases {
  findPlace(address: IpAddress): PlaceFacts | undefined;
  findAsn(address: IpAddress): AsnFacts | undefined;
  /** One entry for each file that has a record of the address: the file's name and its facts. */
  findAnonymity(address: IpAddress): readonly { source: string; facts: AnonymityFacts }[];
  /** MaxMind's figure; 0 if the file has none for the address; undefined if no IP-Risk file is configured. */
  findIpRisk(address: IpAddress): number | undefined;
  /** MaxMind's figure; undefined if there is none or no Static-IP-Score file is configured. */
  findStaticScore(address: IpAddress): number | undefined;
  /** The files that every look-up uses, by kind; for several files of a kind, the oldest date. */
  describe(): readonly DataFile[];
  /** Looks at every file now instead of at the next poll. */
  checkForChanges(): Promise<void>;
  close(): void;
}

/** Paths of the files. Several paths are searched in order, for example one file for v4 and one for v6. */
export interface IpDatabasePaths {
  readonly city: readonly string[];
  /** MMDB files that replace `city` and `asn` as soon as they exist. */
  readonly renewals?: Partial<Readonly<Record<TableId, string>>>;
  /** `.mmdb` files, or CSV files in the form of @ip-location-db/asn. */
  readonly asn: readonly string[];
  readonly anonymous: string | undefined;
  readonly risk: string | undefined;
  readonly staticScore: string | undefined;
}

export interface OpenDatabasesOptions {
  readonly paths: IpDatabasePaths;
  readonly pollMs: number;
  readonly onError: (path: string, cause: unknown) => void;
}

interface Source<T> {
  find(address: IpAddress): T;
  /** Null if the file does not say. */
  builtAt(): Date | null;
  readonly file: ReloadingFile<unknown>;
}

interface MmdbSource extends Source<unknown> {
  /** The record, and the CIDR block that it covers. */
  findBlock(address: IpAddress): { readonly record: unknown; readonly block: string } | undefined;
}

/** Records of one MMDB file. A v4-only tree is never searched for a v6 address: it would walk the first 32 bits and return nonsense. */
async function openMmdb(path: string, options: OpenDatabasesOptions): Promise<MmdbSource> {
  const file = await openReloadingFile({ ...options, path, parse: (bytes) => new Reader<Response>(bytes) });
  const knows = (reader: Reader<Response>, address: IpAddress): boolean => address.version === 4 || reader.metadata.ipVersion === 6;
  return {
    file,
    builtAt: () => file.current().metadata.buildEpoch,
    find(address) {
      const reader = file.current();
      return knows(reader, address) ? reader.get(address.text) : null;
    },
    findBlock(address) {
      const reader = file.current();
      if (!knows(reader, address)) return undefined;
      const [record, prefixLength] = reader.getWithPrefixLength(address.text);
      return { record, block: `${formatIpAddress(networkValue(address, prefixLength), address.bits)}/${prefixLength}` };
    },
  };
}

const noRanges: AsnRanges = {
  words: 1,
  count: 0,
  starts: new Uint32Array(0),
  ends: new Uint32Array(0),
  numbers: new Uint32Array(0),
};

/** A CSV file has one IP version, which the first line shows. */
async function parseAsnFile(bytes: Buffer): Promise<AsnTable> {
  const firstColumn = bytes.toString('latin1', 0, bytes.indexOf(','));
  const version = firstColumn.includes(':') ? 6 : 4;
  const names = new Map<number, string>();
  const ranges = await parseAsnCsv(bytes, version, names);
  return version === 4 ? createAsnTable(ranges, noRanges, names) : createAsnTable(noRanges, ranges, names);
}

/** Packages of ip-location-db end their version with the hour of their data: 2.3.2026061719. */
const DATED_VERSION = /^\d+\.\d+\.(\d{4})(\d\d)(\d\d)(\d\d)$/;

/** The date of a CSV file's data, from the version of its package; null for a file from elsewhere. */
async function packageDate(path: string): Promise<Date | null> {
  const text = await readFile(join(dirname(path), 'package.json'), 'utf8').catch(() => '{}');
  const [, year, month, day, hour] = DATED_VERSION.exec(textAt(JSON.parse(text), 'version') ?? '') ?? [];
  const date = new Date(`${year}-${month}-${day}T${hour}:00:00Z`);
  return Number.isNaN(date.getTime()) ? null : date;
}

async function openAsn(path: string, options: OpenDatabasesOptions): Promise<Source<AsnFacts | undefined>> {
  if (path.endsWith('.mmdb')) {
    const mmdb = await openMmdb(path, options);
    const find = (address: IpAddress): AsnFacts | undefined => {
      const { record, block = '' } = mmdb.findBlock(address) ?? {};
      const asn = readAsn(record);
      return asn && { ...asn, network: block };
    };
    return { ...mmdb, find };
  }
  const file = await openReloadingFile({ ...options, path, parse: parseAsnFile });
  const builtAt = await packageDate(path);
  return { file, builtAt: () => builtAt, find: (address) => file.current().find(address) };
}

const ANONYMOUS_IP = 'anonymous_ip_mmdb';
const IP_RISK = 'ip_risk_mmdb';

function describeFiles(source: string, files: readonly Pick<Source<unknown>, 'builtAt'>[]): DataFile {
  const dates = files.map((file) => file.builtAt());
  const known = dates.filter((date) => date !== null).map((date) => date.getTime());
  return { source, builtAt: known.length === dates.length && known.length > 0 ? new Date(Math.min(...known)) : null };
}

function firstOf<S, T>(sources: readonly S[], find: (source: S) => T | undefined): T | undefined {
  for (const source of sources) {
    const found = find(source);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Opens all configured files concurrently.
 * @throws Error naming the file that cannot be used
 */
export async function openDatabases(options: OpenDatabasesOptions): Promise<IpDatabases> {
  const { paths } = options;
  const named = async <T>(path: string, open: Promise<Source<T>>): Promise<Source<T>> => {
    try {
      return await open;
    } catch (cause) {
      throw new Error(`the IP database ${path} cannot be used`, { cause });
    }
  };
  const mmdb = (path: string): Promise<Source<unknown>> => named(path, openMmdb(path, options));
  const optional = async (path: string | undefined): Promise<Source<unknown> | undefined> => (path === undefined ? undefined : mmdb(path));
  const [city, asn, anonymous, risk, staticScore] = await Promise.all([
    openRenewedFiles({ ...options, renewal: paths.renewals?.city, files: paths.city, open: mmdb }),
    openRenewedFiles({ ...options, renewal: paths.renewals?.asn, files: paths.asn, open: (path) => named(path, openAsn(path, options)) }),
    optional(paths.anonymous),
    optional(paths.risk),
    optional(paths.staticScore),
  ]);
  const files = [anonymous, risk, staticScore].flatMap((source) => (source ? [source.file] : []));
  return {
    findPlace: (address) => firstOf(city.current(), (source) => readPlace(source.find(address))),
    findAsn: (address) => firstOf(asn.current(), (source) => source.find(address)),
    findAnonymity: (address) => [
      ...(anonymous ? [{ source: ANONYMOUS_IP, facts: readAnonymity(anonymous.find(address)) }] : []),
      ...(risk ? [{ source: IP_RISK, facts: readAnonymity(risk.find(address)) }] : []),
    ],
    findIpRisk: (address) => (risk ? readIpRisk(risk.find(address)) : undefined),
    findStaticScore: (address) => (staticScore ? readStaticScore(staticScore.find(address)) : undefined),
    describe: () => [
      describeFiles('city_database', city.current()),
      describeFiles('asn_database', asn.current()),
      ...(anonymous ? [describeFiles(ANONYMOUS_IP, [anonymous])] : []),
      ...(risk ? [describeFiles(IP_RISK, [risk])] : []),
      ...(staticScore ? [describeFiles('static_ip_score_mmdb', [staticScore])] : []),
    ],
    checkForChanges: async () => {
      await Promise.all([city.checkForChanges(), asn.checkForChanges(), ...files.map((file) => file.checkForChange())]);
    },
    close: () => [city, asn, ...files].forEach((each) => each.close()),
  };
}
