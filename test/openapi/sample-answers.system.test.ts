import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleCalls, fileOf, type RouteExample } from '../../services/openapi/route-example';
import { readSampleAnswers, sampleName, SAMPLES_FILE } from '../../services/openapi/sample-answers';
import { SERVICES } from '../support/services';
import { PRODUCTS } from '../support/catalogue';
import { type Installation, openInstallation } from '../acceptance/installation';

/** Set to anything, the files are written anew with what the routes answer. */
const IS_RECORDING = process.env['RECORD_SAMPLES'] !== undefined;
/** Pictures and tokens say nothing past this, and the second entry of a list what the first has said. */
const MAX_TEXT = 100;
const MAX_ENTRIES = 1;

const services = Object.values(SERVICES);
const routes = services.flatMap((service) => {
  const samples = readSampleAnswers(service);
  return service.routes.flatMap((route) => (route.output === undefined ? [] : [{ route, name: sampleName(route), service, samples }]));
});

let tollgate: Installation;
let apiKey: string;

beforeAll(async () => {
  tollgate = await openInstallation();
  const products = PRODUCTS.filter((product) => product.routes.length > 0).map(({ id }) => id);
  apiKey = (await tollgate.createKey({ products, mode: 'test' })).key;
});
afterAll(() => tollgate?.close());

function requestOf(call: RouteExample, input: Record<string, unknown>): [string, RequestInit] {
  const headers = { 'X-API-Key': apiKey };
  const url = new URL(tollgate.gatewayUrl + call.path);
  const file = fileOf(call);
  if (file) {
    const body = new FormData();
    const name = call.path.startsWith('/image') ? 'image' : 'file';
    body.append(name, new Blob([Buffer.from(file.base64, 'base64')], { type: file.content_type }), file.filename);
    return [url.href, { method: 'POST', headers, body }];
  }
  if (call.method === 'GET') {
    for (const [name, value] of Object.entries(input)) url.searchParams.set(name, String(value));
    return [url.href, { headers }];
  }
  return [url.href, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(input) }];
}

/** What a route answers its example; undefined where that is no JSON. */
async function answerOf(calls: readonly RouteExample[]): Promise<unknown> {
  let session = {};
  let last: unknown;
  for (const call of calls) {
    const answer = await fetch(...requestOf(call, { ...session, ...call.input }));
    expect([call.path, answer.status]).toEqual([call.path, 200]);
    if (!answer.headers.get('content-type')?.startsWith('application/json')) return undefined;
    last = await answer.json();
    const { sessionId } = last as { sessionId?: string };
    if (sessionId !== undefined) session = { sessionId };
  }
  return last;
}

function shorten(value: unknown): unknown {
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map(shorten);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shorten(member)]));
}

/** Members of the sample that the answer has not; what is null or empty on either side may be anything. */
function missingFrom(answer: any, sample: any, place = ''): string[] {
  if (sample === null || answer === null) return [];
  if (Array.isArray(sample)) {
    if (!Array.isArray(answer)) return [place];
    return sample.length === 0 || answer.length === 0 ? [] : missingFrom(answer[0], sample[0], `${place}[]`);
  }
  if (typeof sample !== 'object') return typeof answer === typeof sample ? [] : [place];
  if (typeof answer !== 'object') return [place];
  return Object.keys(sample).flatMap((name) =>
    name in answer ? missingFrom(answer[name], sample[name], `${place}.${name}`) : [`${place}.${name}`],
  );
}

/** A sample that shows the same members stays as it is: times and ids are others in every run. */
function keepOrReplace(sample: unknown, answer: unknown): unknown {
  const isSame = sample !== undefined && missingFrom(answer, sample).length + missingFrom(sample, answer).length === 0;
  return isSame ? sample : answer;
}

/** By service. */
const recorded: Record<string, Record<string, unknown>> = {};

it.each(routes)('$name still answers its example as the sample shows', async ({ name, route, service, samples }) => {
  const calls = exampleCalls(route);
  const answer = calls.length === 0 ? undefined : await answerOf(calls);
  if (answer !== undefined) recorded[service.name] = { ...recorded[service.name], [name]: keepOrReplace(samples[name], shorten(answer)) };
  if (IS_RECORDING) return;
  expect([name, name in samples]).toEqual([name, answer !== undefined]);
  expect(missingFrom(answer ?? null, samples[name] ?? null)).toEqual([]);
});

it('is recorded when asked for', () => {
  expect(recorded['pincode']).toHaveProperty(['ANY /pincode']);
  if (!IS_RECORDING) return;
  for (const [name, samples] of Object.entries(recorded)) {
    writeFileSync(join(process.cwd(), 'services', 'products', name, SAMPLES_FILE), `${JSON.stringify(samples, null, 2)}\n`);
  }
});
