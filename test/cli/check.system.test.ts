import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, runCommand } from '../support/run-command';
import { runFolder } from '../support/run-folder';

let root: string;
beforeEach(() => (root = mkdtempSync(join(runFolder(), 'tollgate-check-'))));

beforeAll(() => {
  // The check reads what the build wrote.
  const { status, stderr } = spawnSync(process.execPath, [join(projectRoot, 'cli', 'build.mjs')], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
});

describe('check', () => {
  it('names routes that no service answers, the way out for a plugin description, and what npm start would refuse', async () => {
    const put = (path: string, from = '', to = ''): void => {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), readFileSync(join(projectRoot, path), 'utf8').replace(from, to));
    };
    const check = async (): Promise<string> => (await runCommand(['check'], { root, databaseUrl: '' })).stdout;
    put('dist/services/openapi/document.json', '"/pincode":', '"/pinkode":');
    put('kong/access-layer.json', '"deny", "allow"', '"allow"');
    put('kong/catalogue.yml');
    put('kong/kong.yml');
    put('kong/kong.conf', 'log_level = alert', 'log_level = crit');
    const refused = await check();
    expect(refused).toContain('✗ services: product api-pincode: no service of services/products/registry.ts serves /pincode');
    expect(refused).toMatch(/✗ plugin: [^\n]*npm run plugin-info/);
    expect(refused).toContain('✗ kong: kong.conf: log_level: must be alert');
    put('kong/kong.conf');
    put('kong/access-layer.json');
    put('kong/kong.yml', '    retries: 1', '    tags: [live]');
    const noted = await check();
    for (const passed of ['✓ kong\n', '✓ catalogue\n']) expect(noted).toContain(passed);
    expect(noted).toContain('· npm start would refuse kong/kong.yml: services[0].tags: the local gateway does not implement this');
    put('kong/catalogue.yml', 'prefix: /ip\n', 'prefix: ip\n');
    expect(await check()).toMatch(/✗ catalogue: kong\/catalogue\.yml:\d+:\d+ products\[8\]\.prefix: must be a path/);
  });
});
