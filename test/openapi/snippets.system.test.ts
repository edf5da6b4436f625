import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PRODUCTS } from '../support/catalogue';
import { type Route } from '../../services/kit/service/define-service';
import { exampleCalls, fileOf } from '../../services/openapi/route-example';
import { SERVICES } from '../support/services';
import { snippetsOf } from '../../services/openapi/route-snippets';
import { type SnippetLanguage } from '../../services/openapi/snippets';
import { openInstallation } from '../acceptance/installation';
import { ensurePackages } from '../support/debian-packages';
import { send } from '../support/http';
import { newFolder } from '../support/run-folder';
import { inTestAll, runsEveryScene } from '../support/scenes';
import { useOpened } from '../support/opened';

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const isNull = (schema: unknown): boolean => isObject(schema) && schema['type'] === 'null';

/** Our own words, and keywords that OpenAPI 3.0 lacks or that say nothing of a type. */
const DROPPED = new Set(['x-codeSamples', 'x-errors', 'x-webSocket', 'x-exampleFile', 'propertyNames', 'pattern', 'license']);
const DATA = new Set(['example', 'default', 'enum', 'x-codes']);

/** Null among the variants as `nullable`. */
function withoutNull(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || !anyOf.some(isNull)) return schema;
  const variants = (anyOf as unknown[]).filter((each) => !isNull(each));
  const [only] = variants;
  if (variants.length > 1) return { ...rest, anyOf: variants, nullable: true };
  return isObject(only) && !('$ref' in only) ? { ...only, ...rest, nullable: true } : { ...rest, allOf: variants, nullable: true };
}

/** One of several fixed values as an `enum`, as 3.0 has it. Other unions are anything: the generator makes names without classes of them. */
function asEnum(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  const values = Array.isArray(anyOf) ? (anyOf as Json[]).map((each) => each['enum']) : [];
  if (values.length === 0) return schema;
  if (!values.every(Array.isArray)) return rest;
  return { ...rest, type: (anyOf as Json[])[0]?.['type'], enum: values.flat() };
}

function keywordOf([name, value]: [string, unknown]): [string, unknown][] {
  if (DROPPED.has(name) || (name === 'examples' && Array.isArray(value))) return [];
  if (DATA.has(name)) return [[name, value]];
  if (name === 'properties' && isObject(value)) {
    return [[name, Object.fromEntries(Object.entries(value).map(([member, each]) => [member, downgrade(each)]))]];
  }
  if (name === 'type' && Array.isArray(value)) return [[name, (value as unknown[]).find((each) => each !== 'null')], ['nullable', true]]; // prettier-ignore
  if (name === 'items' && value === false) return [];
  if (name === 'const') return [['enum', [value]]];
  if (name === 'prefixItems' && Array.isArray(value)) return [['items', value.length === 1 ? downgrade(value[0]) : {}]];
  if (name === 'exclusiveMinimum' || name === 'exclusiveMaximum') return [[name.replace('exclusiveM', 'm'), value], [name, true]]; // prettier-ignore
  return [[name, downgrade(value)]];
}

function downgrade(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(downgrade);
  if (!isObject(part)) return part;
  if (typeof part['$ref'] === 'string') return { $ref: part['$ref'] };
  return asEnum(withoutNull(Object.fromEntries(Object.entries(part).flatMap(keywordOf))));
}

/** An OpenAPI 3.1 document of ours in the words of 3.0, for generators that know no others: the same operations, shapes and names. */
const asOpenApi30 = (document: object): object => ({ ...(downgrade(document) as object), openapi: '3.0.3' });

const run = promisify(execFile);
/** How a route is called, which is what its snippets are made from. */
const kindOf = (route: Route): string => {
  const calls = exampleCalls(route);
  return [calls.length > 1, ...calls.slice(-1).map((call) => [call.method, fileOf(call) !== undefined])].join();
};
/** Of each product one of each kind in `npm test`: test/openapi/answers.system.test.ts has every route answer its example. */
const routes = Object.values(SERVICES).flatMap(({ routes: all }): readonly Route[] =>
  runsEveryScene ? all : all.filter((route, at) => all.findIndex((each) => kindOf(each) === kindOf(route)) === at),
);

/** Ends what a snippet wrote. */
const END = '\u001e';
/** Run the files that they are named, in one process as each stands: a start of each would cost more than its calls. */
const RUNNERS: Record<SnippetLanguage, readonly [program: string, ...args: string[]]> = {
  curl: ['sh', '-c', `for file; do sh -e "$file" || echo "failed: $?"; printf '${END}'; done`, 'sh'],
  javascript: [
    process.execPath,
    '--input-type=module',
    '--eval',
    `for (const file of process.argv.slice(1)) {
      await import(file).catch((error) => console.log('failed:', error));
      process.stdout.write('${END}');
    }`,
  ],
  python: [
    'python3',
    '-c',
    `import runpy, sys
for file in sys.argv[1:]:
    try:
        runpy.run_path(file)
    except BaseException as error:
        print('failed:', repr(error))
    print(end='${END}', flush=True)`,
  ],
};
const LANGUAGES = ['curl', 'javascript', 'python'] as const;
const ENDINGS = { curl: 'sh', javascript: 'mjs', python: 'py' };

const tollgate = useOpened(openInstallation);
let folder: string;
/** For generated clients. */
let apiKey: string;
/** What the snippets of each language wrote, in the order of the routes. */
const written = new Map<SnippetLanguage, readonly string[]>();

/** Runs the examples of all routes in one language. @param key of a customer of its own, whose limits no other language takes @returns what each wrote */
async function runSnippets(language: SnippetLanguage, key: string): Promise<readonly string[]> {
  const [program, ...args] = RUNNERS[language];
  const files = routes.map((route, index) => {
    const snippet = snippetsOf(route, tollgate.gatewayUrl).find((each) => each.language === language);
    const file = join(folder, `${index}.${ENDINGS[language]}`);
    const code = snippet?.code ?? '';
    // curl fails by its exit code when an answer is no success, as Python does; JavaScript tells the status instead.
    writeFileSync(file, language === 'curl' ? code.replaceAll('curl -sS', 'curl -sS --fail-with-body') : code);
    return file;
  });
  const { stdout } = await run(program, [...args, ...files], {
    cwd: folder,
    env: { ...process.env, API_KEY: key },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.split(END);
}

beforeAll(async () => {
  folder = newFolder();
  const products = PRODUCTS.filter(({ routes }) => routes.length > 0).map(({ id }) => id);
  for (const call of routes.flatMap((route) => exampleCalls(route))) {
    const file = fileOf(call);
    if (file) writeFileSync(join(folder, file.filename), Buffer.from(file.base64, 'base64'));
  }
  const newKey = async (): Promise<string> => (await tollgate.createKey({ products, mode: 'test' })).key;
  apiKey = await newKey();
  await Promise.all(LANGUAGES.map(async (language) => written.set(language, await runSnippets(language, await newKey()))));
});

describe.each(routes)('$method $path', (route) => {
  it.each(LANGUAGES)('answers its example in %s as it stands', (language) => {
    const text = written.get(language)?.[routes.indexOf(route)];
    expect(text).not.toMatch(/^failed:/m);
    if (language !== 'curl') expect(text).toMatch(/^200 /);
  });
});

describe('a client that is generated from /openapi.json', () => {
  const modules = join(__dirname, '..', '..', 'node_modules');
  const environment = () => ({ ...process.env, API_KEY: apiKey, GATEWAY: tollgate.gatewayUrl });
  const node = (program: string, args: string[]) => run(process.execPath, [join(modules, program), ...args], { cwd: folder });

  const TYPESCRIPT = `
    import createClient from 'openapi-fetch';
    import type { components, paths } from './schema.js';
    const { GATEWAY = '', API_KEY = '' } = process.env;
    const client = createClient<paths>({ baseUrl: GATEWAY, headers: { 'X-API-Key': API_KEY } });
    const ip = await client.POST('/ip', { body: { ips: ['8.8.8.8'] } });
    const version: 4 | 6 | undefined = ip.data?.results.flatMap((each) => ('version' in each ? [each.version] : []))[0];
    const pin = await client.GET('/pincode', { params: { query: { country: 'IN', pin: '110001', format: 'normal' } } });
    const normal = pin.data as components['schemas']['PincodeNormalised'] | undefined;
    const refused = await client.GET('/ip', { headers: { 'X-API-Key': 'tg_test_none' } });
    const code: string | undefined = refused.error?.code;
    // @ts-expect-error a country is required
    await client.GET('/pincode', { params: { query: { pin: '110001' } } });
    console.log(JSON.stringify([version, normal?.data.places[0]?.state, code]));`;

  const PYTHON = `
import json, os, tollgate_client as tollgate
configuration = tollgate.Configuration(host=os.environ['GATEWAY'])
configuration.access_token = os.environ['API_KEY']
with tollgate.ApiClient(configuration) as client:
    ip = tollgate.ApiIpApi(client).get_ip(ip='8.8.8.8')
    leads = tollgate.ApiGleadApi(client).post_glead_search(tollgate.GleadSearchRequest(query='dentist', location='Pune'))
    code = None
    try:
        client.configuration.access_token = 'tg_test_none'
        tollgate.ApiIpApi(client).get_ip(ip='8.8.8.8')
    except tollgate.ApiException as refused:
        code = json.loads(refused.body)['code']
    print(json.dumps([ip.version, leads.data.count > 0, code]))`;

  it('compiles in TypeScript and calls two products', async () => {
    const { text } = await send(`${tollgate.gatewayUrl}/openapi.json`);
    writeFileSync(join(folder, 'openapi.json'), text);
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'call.ts'), TYPESCRIPT);
    symlinkSync(modules, join(folder, 'node_modules'));
    await node('openapi-typescript/bin/cli.js', ['openapi.json', '-o', 'schema.d.ts']);
    await node('typescript/bin/tsc', [
      'call.ts',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--types',
      'node',
    ]);
    const { stdout } = await run(process.execPath, ['call.js'], { cwd: folder, env: environment() });
    expect(JSON.parse(stdout)).toEqual([4, 'Delhi', 'key_unknown']);
  });

  inTestAll('compiles in Python, from the same document in the words of OpenAPI 3.0, and calls two products', async () => {
    const modulesOfPython = ['certifi', 'dateutil', 'urllib3'] as const;
    const files = modulesOfPython.map((name) => `/usr/lib/python3/dist-packages/${name}/__init__.py` as const);
    await ensurePackages(['java', 'python3', ...files], 'Generated clients in Python');
    const document = (await send(`${tollgate.gatewayUrl}/openapi.json`)).json();
    writeFileSync(join(folder, 'openapi-30.json'), JSON.stringify(asOpenApi30(document)));
    mkdirSync(join(folder, 'python'));
    const jar = join(modules, '@openapitools', 'openapi-generator-cli', 'bin', 'openapi-generator.jar');
    const args = ['generate', '-g', 'python', '-i', 'openapi-30.json', '-o', 'python', '--package-name', 'tollgate_client'];
    // What runs for seconds is not worth the optimizing compiler.
    await run('java', ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-jar', jar, ...args], { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
    await run('python3', ['-m', 'compileall', '-q', 'python/tollgate_client'], { cwd: folder });
    const { stdout } = await run('python3', ['-c', PYTHON], { cwd: join(folder, 'python'), env: environment() });
    expect(JSON.parse(stdout)).toEqual([4, true, 'key_unknown']);
  });
});
