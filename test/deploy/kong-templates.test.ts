import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeKongTemplates } from '../../cli/container/kong-templates';
import { projectRoot } from '../support/project-root';

const from = join(projectRoot, 'kong/templates');
let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'templates-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const written = (env: Record<string, string>, name: string): string => {
  const to = join(folder, 'templates');
  writeKongTemplates({ from, to, env });
  expect(readdirSync(to).sort()).toEqual(readdirSync(from).sort());
  return readFileSync(join(to, name), 'utf8');
};

describe('what Kong answers by itself in compose', () => {
  it('leads to the page of its code and to the page that explains, and keeps Kong’s two places', () => {
    const env = { DASHBOARD_URL: 'https://keys.example.com' };
    const problem = written(env, 'problem.json');
    expect(JSON.parse(problem)).toMatchObject({
      type: 'https://keys.example.com/reference/errors#gateway_error',
      help: 'https://keys.example.com/explain',
    });
    expect(problem.match(/%./g)).toEqual(['%s', '%s']);
    const page = written(env, 'problem.html');
    expect(page).toContain('<a href="https://keys.example.com/explain">What happened to this request</a>');
    expect(page.match(/%s/g)).toHaveLength(2);
  });

  it('is as shipped where no address is known', () => {
    for (const name of readdirSync(from)) expect(written({}, name)).toBe(readFileSync(join(from, name), 'utf8'));
  });

  it('is not written with an address that is none', () => {
    expect(() => written({ DASHBOARD_URL: 'keys.example.com' }, 'problem.json')).toThrow('DASHBOARD_URL');
  });
});
