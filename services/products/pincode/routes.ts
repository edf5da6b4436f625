import { type z } from 'zod';
import { type KeyMode } from '../../../plugins/core/ports';
import { type ProblemCode } from '../../../plugins/core/problems';
import { defineRoute, defineService, type CallContext, type ServiceTools } from '../../kit/service/define-service';
import { invalidInput, ServiceError } from '../../kit/errors';
import { text } from '../../kit/service/route-description';
import { bytesReply, JSON_TYPE, jsonReply, type Reply } from '../../kit/service/reply';
import { formatTimestamp } from '../../kit/timestamp';
import { openReloadingFile } from '../../kit/data-files/reloading-file';
import { openRenewedFiles } from '../../kit/data-files/renewed-files';
import { UpstreamClient } from '../../kit/upstream/upstream-client';
import { sourceName } from '../../kit/upstream/source-name';
import { sandboxAt } from '../../kit/upstream/upstream-target';
import { pincode } from './facts';
import { createGeonamesProvider, GEONAMES_ORG } from './geonames-provider';
import { indiaProvider } from './india-provider';
import { attributionOf, GEONAMES, INDIA_FILE, indiaAnswer, type IndiaFile, parseIndiaFile } from './india-file';
import { countryOf, normalPlaces, withCoordinates } from './normal-places';
import { parseIndianPin, parseWorldCode, type PinQuery } from './parse-pin';
import { createPinLookup, type PinAnswer, type PinLookup, type PinUpstream } from './pin-lookup';
import { type FailureReason } from './provider';
import { pincodeInput, pincodeOutput } from './schema';
import { pincodeSettings, type PincodeSettings } from './settings';
import { zippopotamProvider } from './zippopotam-provider';

export interface PincodeDeps {
  readonly lookUp: PinLookup;
  /** Countries besides India. */
  readonly countries: readonly string[];
  /** Whether another provider may be asked if the first fails. */
  readonly hasFallback: boolean;
  /** Undefined as long as there is none. */
  indiaFile(): IndiaFile | undefined;
  close(): Promise<void>;
}

const INDIA = 'IN';

/** @throws ServiceError 400 */
function parseQuery({ country, pin }: { country: string; pin: string }, countries: readonly string[]): PinQuery {
  const code = country.toUpperCase();
  if (code !== INDIA && !countries.includes(code)) throw unsupportedCountry(countries);
  if (pin.trim() === '') throw invalidInput([{ field: 'pin', message: 'must not be empty' }]);
  const parsed = code === INDIA ? parseIndianPin(pin) : parseWorldCode(code, pin);
  if (!parsed.ok) throw invalidInput([{ field: 'pin', message: parsed.message }]);
  return parsed.query;
}

function unsupportedCountry(countries: readonly string[]): ServiceError {
  const supported = [...countries, INDIA].sort();
  return new ServiceError('invalid_request', {
    detail: `country must be a supported two-letter code: ${supported.join(', ')}.`,
    members: { errors: [{ field: 'country', message: 'is not supported' }], supported_countries: supported },
  });
}

const PROBLEMS: Readonly<Record<FailureReason, ProblemCode>> = {
  no_records: 'not_found',
  bad_response: 'upstream_failed',
  unreachable: 'upstream_failed',
  provider_quota: 'upstream_failed',
  timeout: 'upstream_timeout',
};

const DETAILS: Readonly<Record<FailureReason, string>> = {
  no_records: 'The postal provider has no record of this code.',
  bad_response: 'The postal provider sent an unusable response.',
  unreachable: 'The postal provider could not be reached.',
  provider_quota: 'The postal provider accepts no more requests at present.',
  timeout: 'The postal provider did not respond in time.',
};

function providerError({ provider: asked, reason, cause }: PinAnswer & { ok: false }, mode: KeyMode): ServiceError {
  const provider = sourceName(asked, mode);
  return new ServiceError(PROBLEMS[reason], {
    code: 'provider_error',
    detail: DETAILS[reason],
    members: { reason, provider },
    headers: { 'X-Upstream-Provider': provider },
    cause,
  });
}

/** A caller of a provider's own JSON always gets the JSON of the same provider. Only the normal form may come from another. */
async function answer(input: z.output<typeof pincodeInput>, context: CallContext, deps: PincodeDeps): Promise<Reply> {
  const query = parseQuery(input, deps.countries);
  const isNormal = input.format === 'normal';
  const found = await deps.lookUp(query, { mode: context.mode, mayFallBack: isNormal && deps.hasFallback });
  if (!found.ok) throw providerError(found, context.mode);
  const { body } = found;
  const provider = sourceName(found.provider, context.mode);
  const headers = { 'X-Upstream-Provider': provider };
  if (!isNormal) return bytesReply(body, JSON_TYPE, { headers });
  const places = normalPlaces(found.provider, body);
  const file = context.mode === 'live' && countryOf(query) === INDIA ? deps.indiaFile() : undefined;
  const placed = file && withCoordinates(places, file);
  const usesFile = placed !== undefined || found.provider === INDIA_FILE;
  const data = {
    country: countryOf(query),
    provider,
    coordinates_from: placed ? INDIA_FILE : null,
    attribution: file && usesFile ? attributionOf(file) : found.provider === GEONAMES_ORG ? GEONAMES : null,
    places: placed ?? places,
  };
  return jsonReply({ status: 'success', data, timestamp: formatTimestamp(context.clock.now()) }, { headers });
}

/** Opens pooled connections to one provider. */
type Connect = (options: { name: string; liveUrl: string; liveSetting: string; sandboxPath: `/${string}` }) => UpstreamClient;

type ConnectedUpstream = PinUpstream & { client: UpstreamClient };

/** The configured provider, and the other one if its settings are there. */
function worldUpstreams(settings: PincodeSettings, connect: Connect): [ConnectedUpstream, ...ConnectedUpstream[]] {
  const zippopotam: ConnectedUpstream = {
    provider: { live: zippopotamProvider, test: zippopotamProvider },
    client: connect({
      name: zippopotamProvider.name,
      liveUrl: settings.PINCODE_ZIPPOPOTAM_URL,
      liveSetting: 'PINCODE_ZIPPOPOTAM_URL',
      sandboxPath: '/zippopotam',
    }),
  };
  if (settings.PINCODE_GEONAMES_USERNAME === undefined) return [zippopotam];
  const live = createGeonamesProvider(settings.PINCODE_GEONAMES_USERNAME);
  const geonames: ConnectedUpstream = {
    provider: { live, test: createGeonamesProvider('sandbox') },
    client: connect({
      name: live.name,
      liveUrl: settings.PINCODE_GEONAMES_URL,
      liveSetting: 'PINCODE_GEONAMES_URL',
      sandboxPath: '/geonames',
    }),
  };
  return settings.PINCODE_WORLD_PROVIDER === 'geonames' ? [geonames, zippopotam] : [zippopotam, geonames];
}

/** Milliseconds between two looks for a new file. */
const FILE_POLL_MS = 30_000;
const UNUSABLE = 'the postal codes of India cannot be used; those in memory stay';

/** The providers' clients, the look-up with its caches, and the file of India. */
export async function createPincodeDeps({ settings, common, clock, log, metrics }: ServiceTools<PincodeSettings>): Promise<PincodeDeps> {
  const connect: Connect = ({ name, liveUrl, liveSetting, sandboxPath }) =>
    new UpstreamClient({
      name,
      target: { liveUrl, liveSetting, sandboxUrl: sandboxAt(common, sandboxPath) },
      timeoutMs: settings.PINCODE_TIMEOUT_MS,
      headers: { accept: 'application/json', 'user-agent': 'tollgate' },
      metrics,
    });
  const india = connect({
    name: indiaProvider.name,
    liveUrl: settings.PINCODE_INDIA_URL,
    liveSetting: 'PINCODE_INDIA_URL',
    sandboxPath: '/postalpincode',
  });
  const world = worldUpstreams(settings, connect);
  const { PINCODE_FALLBACK: hasFallback, PINCODE_INDIA_PINS: renewal } = settings;
  const files = await openRenewedFiles({
    ...{ renewal, files: [], pollMs: FILE_POLL_MS },
    open: async (path) => {
      const watched = { path, parse: parseIndiaFile, pollMs: FILE_POLL_MS };
      return { file: await openReloadingFile({ ...watched, onError: (_path, err) => log.error({ path, err }, UNUSABLE) }) };
    },
    onError: (path, err) => log.error({ path, err }, UNUSABLE),
  });
  const indiaFile = (): IndiaFile | undefined => files.current()[0]?.file.current();
  const reserve = (pin: string): { provider: string; body: Buffer } | undefined => {
    const file = indiaFile();
    const body = file && indiaAnswer(file, pin);
    return body && { provider: INDIA_FILE, body };
  };
  const upstreams = { india: { provider: { live: indiaProvider, test: indiaProvider }, client: india }, world };
  return {
    hasFallback,
    countries: settings.PINCODE_COUNTRIES.filter((code) => code !== INDIA),
    lookUp: createPinLookup({ ...upstreams, ...(hasFallback && { reserve }) }, clock),
    indiaFile,
    close: async () => {
      files.close();
      await Promise.all([india, ...world.map(({ client }) => client)].map((client) => client.close()));
    },
  };
}

const PROVIDER = { 'X-Upstream-Provider': text('The provider that was asked.') };

export const pincodeService = defineService<PincodeDeps, PincodeSettings>({
  ...pincode,
  settings: pincodeSettings,
  createDeps: createPincodeDeps,
  dataOf: (deps) => {
    const file = deps.indiaFile();
    return Promise.resolve(file ? [{ name: 'Postal codes of India by GeoNames, used if the source fails', asOf: file.asOf }] : []);
  },
  close: (deps) => deps.close(),
  routes: [
    defineRoute({
      method: 'ANY',
      path: '/pincode',
      does:
        'Finds the post offices of a postal code. Returns the JSON of the source unchanged or, with `format=normal`, one form for all ' +
        'countries. If the source for India fails, GeoNames’ postal codes (CC BY 4.0) may be used instead, in its form: `X-Upstream-Provider` is ' +
        'then `geonames-file`, and `Message` has their date.',
      fails: ['provider_no_record', 'provider_failed', 'provider_timeout'],
      headers: { 200: PROVIDER, 404: PROVIDER, 502: PROVIDER, 504: PROVIDER },
      input: pincodeInput,
      output: pincodeOutput,
      handler: (input, context, deps: PincodeDeps) => answer(input, context, deps),
    }),
  ],
});
