import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PRODUCTS } from '../support/catalogue';
import { exampleCalls, type ExampleOf, fileOf } from '../../services/openapi/route-example';
import { type SnippetLanguage, snippetsOf } from '../../services/openapi/snippets';
import { openInstallation, type Installation } from '../acceptance/installation';

const run = promisify(execFile);
const routes: ExampleOf[] = [...PRODUCTS.flatMap((product) => product.routes), { method: 'GET', path: '/api/v1/gst/refresh-captcha' }];
const PROGRAMS: Record<SnippetLanguage, (code: string) => [string, string[]]> = {
  curl: (code) => ['sh', ['-ec', code.replaceAll('curl -sS', 'curl -sS --fail-with-body')]],
  javascript: (code) => [process.execPath, ['--input-type=module', '--eval', code]],
  python: (code) => ['python3', ['-c', code]],
};

let tollgate: Installation;
let folder: string;
let apiKey: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-snippets-'));
  tollgate = await openInstallation();
  const products = PRODUCTS.filter(({ routes }) => routes.length > 0).map(({ id }) => id);
  apiKey = (await tollgate.createKey({ products, mode: 'test' })).key;
  for (const call of routes.flatMap((route) => exampleCalls(route))) {
    const file = fileOf(call);
    if (file) writeFileSync(join(folder, file.filename), Buffer.from(file.base64, 'base64'));
  }
});

afterAll(async () => {
  await tollgate.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(routes)('$method $path', (route) => {
  it.each(['curl', 'javascript', 'python'] as const)('answers its example in %s as it stands', async (language) => {
    const snippet = snippetsOf(route, tollgate.gatewayUrl).find((each) => each.language === language);
    const [program, args] = PROGRAMS[language](snippet?.code ?? '');
    // Each fails by its exit code when an answer is no success; JavaScript tells the status instead.
    const { stdout } = await run(program, args, { cwd: folder, env: { ...process.env, API_KEY: apiKey }, maxBuffer: 64 * 1024 * 1024 });
    if (language !== 'curl') expect(stdout).toMatch(/^200 /);
  });
});
