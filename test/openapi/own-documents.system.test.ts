import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { type IncomingMessage } from 'node:http';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { DomUtils, parseDocument } from 'htmlparser2';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { createCatalogue, type CatalogueProduct } from '../../plugins/core/catalogue/catalogue';
import { type Operation, operationsIn, readOperations } from '../../services/dashboard/storefront/operations';
import { TryForm } from '../../services/dashboard/storefront/try-form';
import { isPublishedPath } from '../../services/dashboard/customer/requests/published-path';
import { type TryCall } from '../../services/dashboard/reference/try-call';
import { type CallTarget, writeTarget } from '../../services/dashboard/reference/write-target';
import { buildDocument } from '../support/openapi/build-document';
import { type ApiDocumentParts, describeApi } from '../../services/openapi/describe-api';
import { type Json } from '../../services/openapi/document-parts';
import { normalForm } from '../../services/openapi/own-document/normal-form';
import { fieldsOf } from '../../services/dashboard/reference/schema-fields';
import { serve } from '../support/http';
import { CATALOGUE } from '../support/catalogue';
import { FRAMEWORKS, HOSTILE, STYLES } from './documents/frameworks';
import { checkOpenApi } from '../support/openapi/check-openapi';
import { ensurePackages } from '../support/debian-packages';
import { newFolder } from '../support/run-folder';
import { firstOf, runsEveryScene } from '../support/scenes';
import { useOpened } from '../support/opened';

const run = promisify(execFile);
const own: CatalogueProduct = {
  id: 'forecast', title: 'Forecasts', description: 'Weather of a city.', prefix: '/v1', routes: [{ method: 'ANY', path: '/v1', purpose: 'All' }],
  base: { daily: 1, monthly: 1 }, subscribable: true, plans: [],
}; // prettier-ignore

/** Kept from run to run: to compile what a first program needs takes half a minute. */
const GO_CACHE = resolve(__dirname, '../../.test/go-cache');

let baseUrl = '';
let built: ApiDocumentParts;
const describeOwn = (document: object): any =>
  JSON.parse(JSON.stringify(describeApi(built, createCatalogue([own]), new Map([[own.id, normalForm(document as Json)]])).document));
const shown = (document: object) => operationsIn(readOperations(JSON.stringify(describeOwn(document))));

let seen: (Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { readonly body: string })[] = [];
let folder: string;
/** Where samples are that run from a file. */
let programs: string;

const server = useOpened(() =>
  serve((request, response) => {
    void text(request).then((body) => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers, body });
      response.writeHead(url?.includes('refused') ? 401 : 200, { 'content-type': 'application/json' });
      response.end('{"code":"fine"}');
    });
  }),
);
beforeAll(async () => {
  baseUrl = server.url;
  built = JSON.parse(JSON.stringify(buildDocument(baseUrl, CATALOGUE))) as ApiDocumentParts;
  await ensurePackages(['go', 'php'], 'The samples of the reference');
  programs = newFolder();
  folder = newFolder();
  writeFileSync(join(folder, 'picture'), 'pixels');
});

const LANGUAGES = ['curl', 'javascript', 'python', 'go', 'php'];
/** Where a test is about what is sent: every language writes every style of a parameter, and what is hostile, below. */
const FEW = runsEveryScene ? LANGUAGES : ['curl', 'javascript'];

/** Runs an operation's samples, in these languages. @returns what the API was sent, and what was printed, by language */
async function runSamples({ 'x-codeSamples': samples }: Pick<Operation, 'x-codeSamples'>, languages: readonly string[] = LANGUAGES) {
  const file = (name: string, source: string): string => {
    writeFileSync(join(programs, name), source);
    return join(programs, name);
  };
  const runners: Record<string, (source: string) => [string, string[]]> = {
    curl: (source) => ['sh', ['-ec', source]],
    javascript: (source) => [process.execPath, ['--input-type=module', '--eval', source]],
    python: (source) => ['python3', ['-c', source]],
    go: (source) => ['go', ['run', file('main.go', source)]],
    php: (source) => ['php', [file('main.php', source)]],
  };
  const ran = [];
  for (const { lang, source } of samples.filter((each) => languages.includes(each.lang))) {
    seen = [];
    const [program, args] = runners[lang]?.(source) ?? ['false', []];
    const { stdout } = await run(program, args, {
      cwd: folder,
      env: { ...process.env, API_KEY: 'tg_test_key', GOCACHE: GO_CACHE },
    });
    ran.push({ lang, stdout, sent: seen[0] });
  }
  return ran;
}

describe.each(firstOf(Object.entries(FRAMEWORKS), 5))('the reference of a document as %s writes it', (name, document) => {
  it('is a valid OpenAPI document whose operations have our keys, our refusals and the city in the path, with a value in every sample', async () => {
    const described = describeOwn(document);
    const { security, responses } = described.paths['/v1/forecast/{city}'].get;
    expect(security).toEqual([{ apiKeyHeader: [] }, { bearer: [] }, { apiKeyQuery: [] }]);
    for (const status of ['401', '429', '503']) {
      const { $ref } = responses[status];
      expect(described.components.responses[$ref.split('/').at(-1)]['x-codes'].length).toBeGreaterThan(0);
    }
    await checkOpenApi(described);
    const operation = shown(document).find(({ path }) => path === '/v1/forecast/{city}');
    expect(operation?.parameters?.filter((each) => each.in === 'path')).toMatchObject([{ name: 'city', example: 'pune' }]);
    expect(operation?.['x-codeSamples'].map(({ lang }) => lang)).toEqual(LANGUAGES);
    const ran = await runSamples(operation as never, FEW);
    for (const { sent, stdout } of ran) {
      expect(sent?.method).toBe('GET');
      expect(sent?.url).toMatch(/^\/v1\/forecast\/pune(\?|$)/);
      expect(sent?.headers['x-api-key']).toBe('tg_test_key');
      expect(stdout).toContain('fine');
    }
    expect(new Set(ran.map(({ sent }) => sent?.url)).size).toBe(1);
    if (name === 'fastapi') expect(ran[0]?.sent?.headers['x-trace']).toBe('x-tracex');
    if (name === 'nest') expect(ran[0]?.sent?.url).toBe('/v1/forecast/pune?units=metric');
    if (name === 'byHand') expect(ran[0]?.sent?.url).toBe('/v1/forecast/pune?on=2026-01-31');
  });
});

it('keeps the names of operations, unless two are alike', () => {
  const names = (document: object) => shown(document).map(({ operationId }) => operationId);
  expect(names(FRAMEWORKS['nest'] ?? {})).toEqual(['ForecastController_findOne']);
  expect(names(FRAMEWORKS['go'] ?? {})).toEqual(['GetForecast', 'PostForecast']);
  expect(names(FRAMEWORKS['byHand'] ?? {})).toEqual(['forecast_get_forecast_city_']);
});

it('writes out what is referred to: bodies, answers, all of several shapes and one of them', () => {
  const [get, post] = shown(FRAMEWORKS['go'] ?? {});
  const [nest] = shown(FRAMEWORKS['nest'] ?? {});
  const [hand] = shown(FRAMEWORKS['byHand'] ?? {});
  const fields = (operation: typeof get) =>
    fieldsOf(operation?.responses['200']?.content?.['application/json']?.schema ?? {}).map(({ name, type }) => [name, type]);
  expect(post?.requestBody?.content['application/json']?.example).toEqual({ city: "L'Aquila" });
  expect(fields(get)).toEqual([['city', 'string'], ['days', 'integer']]); // prettier-ignore
  expect(fields(nest)).toEqual([['city', 'string or null']]);
  expect(fields(hand)).toEqual([['rain', 'boolean']]);
});

it('renames the shapes that a discriminator names with the shapes', () => {
  const { paths, components } = describeOwn(FRAMEWORKS['discriminator'] ?? {});
  const { schema } = paths['/v1/forecast/{city}'].get.responses['200'].content['application/json'];
  for (const place of Object.values<string>(schema.discriminator.mapping)) expect(components.schemas).toHaveProperty([place.slice(21)]);
});

it('marks a value that was made from the schema, and no other', () => {
  const made = (document: object) => shown(document)[0]?.parameters?.map(({ name, isMade }) => [name, isMade]);
  expect(made(FRAMEWORKS['fastapi'] ?? {})).toEqual([['city', false], ['days', false], ['x-trace', true]]); // prettier-ignore
});

it('samples send bodies and forms with every character as it is', async () => {
  const operations = shown(FRAMEWORKS['forms'] ?? {});
  const form = await runSamples(operations.find(({ path }) => path === '/v1/station') as never, FEW);
  for (const { sent } of form) {
    expect(Object.fromEntries(new URLSearchParams(sent?.body))).toEqual({ name: "D'Souza & co", note: '$(id) `id` "x" \\ %' });
  }
  const upload = await runSamples(operations.find(({ path }) => path === '/v1/picture') as never);
  expect(upload.map(({ lang }) => lang)).toEqual(['curl', 'javascript']);
  for (const { sent } of upload) {
    expect(sent?.method).toBe('PUT');
    expect(sent?.body).toMatch(/name="title"\r\n\r\nSky\r\n[^]*name="picture"; filename="picture"[^]*pixels/);
  }
});

const renderForm = (operation: Operation): string =>
  renderToStaticMarkup(createElement(TryForm, { operation, tools: { isSignedIn: true, canTry: false, isSandbox: false } }));

/** What “Run it here” sends of the values that the page has filled in. */
function sentFromPage(operation: Operation): CallTarget {
  const form = parseDocument(renderForm(operation));
  const fields = DomUtils.getElementsByTagName('input', form).map(({ attribs }) => [attribs['name'] ?? '', attribs['value']] as const);
  const [call] = DomUtils.getElementsByTagName('form', form).map(({ attribs }) => JSON.parse(attribs['data-call'] ?? '') as TryCall);
  return writeTarget(call ?? { path: '' }, fields);
}

it('writes parameters in their styles in every sample and from “Run it here”', async () => {
  const [operation] = shown(STYLES);
  if (!operation) throw new Error('the document has no operation');
  const colours = 'filter%5BR%5D=100&filter%5BG%5D=200&tag=blue&tag=black&at=%7B%22R%22%3A100%2C%22G%22%3A200%7D&city=another';
  const url = `/v1/forecast/.blue.black?${colours}`;
  const sentHeaders = { 'x-light': 'R=100,G=200', cookie: 'theme=dark; shades=blue,black' };
  for (const { sent } of await runSamples(operation)) expect(sent).toMatchObject({ url, headers: sentHeaders });
  const { path, query, headers } = sentFromPage(operation);
  expect(`${path}?${query}`).toBe(url);
  const lower = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  expect(Object.fromEntries(lower)).toEqual(sentHeaders);
  expect(isPublishedPath(path, createCatalogue([{ ...own, openapi: 'own.json' }]))).toBe(true);
});

it('a Python sample shows the code of a refusal', async () => {
  const document = {
    ...FRAMEWORKS['byHand'],
    paths: { '/refused': { get: { responses: { '200': { description: 'Fine', content: { 'application/json': {} } } } } } },
  };
  const [ran] = await runSamples(shown(document)[0] as never, ['python']);
  expect(ran?.stdout).toContain("401 {'code': 'fine'}");
});

it('“Run it here” has a field for each part of a call, whatever its method', () => {
  const forms = (document: object) => shown(document).map(renderForm);
  const [trace = ''] = forms(FRAMEWORKS['fastapi'] ?? {});
  for (const field of ['name=":path city" value="pune"', 'name="days"', 'name=":header x-trace"']) expect(trace).toContain(field);
  const [, station = '', picture = ''] = forms(FRAMEWORKS['forms'] ?? {});
  expect(station).toContain('&quot;form&quot;:&quot;application/x-www-form-urlencoded&quot;');
  expect(station).toContain('name=":form name"');
  expect(station).toContain('value="D&#x27;Souza &amp; co"');
  expect(picture).toContain('&quot;method&quot;:&quot;PUT&quot;');
  expect(picture).toContain('&quot;file&quot;:{&quot;field&quot;:&quot;picture&quot;');
  expect(picture).toMatch(/type="file"[^]*name=":form title" value="Sky"/);
  expect(station + picture).not.toContain('<textarea');
  const hostile = forms(HOSTILE['script'] ?? {}).join('');
  expect(hostile).not.toMatch(/<img|<script|<\/script/);
});

describe('a hostile document', () => {
  it('runs nothing and sends only what it names', async () => {
    const [operation] = shown(HOSTILE['script'] ?? {});
    const ran = await runSamples(operation as never);
    for (const { sent } of ran) {
      expect(JSON.parse(sent?.body ?? '')).toEqual((operation?.requestBody?.content['application/json'] as any).example);
      expect(sent?.headers['x-api-key']).toBe('tg_test_key');
      expect(sent?.headers).not.toHaveProperty('x-other');
    }
    expect(readdirSync(folder)).toEqual(['picture']);
  });

  it.each(['cyclic', 'doubling'])('that is %s costs a page of bounded size', (kind) => {
    const operations = shown(HOSTILE[kind] ?? {});
    expect(operations).toHaveLength(1);
    expect(JSON.stringify(operations).length).toBeLessThan(500_000);
  });
});
