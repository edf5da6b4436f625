import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { useDashboard } from '../dashboard/support/dashboard';
import { makeOperator } from '../dashboard/support/operator';
import { makeSellerToken } from '../dashboard/support/seller-token';
import { newFolder } from '../support/run-folder';

const run = promisify(execFile);
const page = readFileSync(join(__dirname, '..', '..', 'docs', 'seller-api.md'), 'utf8');

function snippet(language: string): string {
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1];
  if (found === undefined) throw new Error(`the page has no snippet in ${language}`);
  return found;
}

const dashboard = useDashboard();
let folder: string;
let url: string;
let token: string;
beforeAll(async () => {
  folder = newFolder();
  url = await dashboard.app.listen({ host: '127.0.0.1', port: 0 });
  ({ secret: token } = await makeSellerToken(dashboard, (await makeOperator(dashboard)).cookie));
});

describe('the page about the seller’s API', () => {
  const programs = {
    sh: () => ['bash', ['-euc', snippet('sh')]] as const,
    ts: () => {
      const { outputText } = ts.transpileModule(snippet('ts'), {
        compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
      });
      const file = join(folder, 'customer.mjs');
      writeFileSync(file, outputText);
      return [process.execPath, [file]] as const;
    },
  };

  it.each(['sh', 'ts'] as const)('makes a customer with a key in three calls: %s', async (language) => {
    const email = `${language}@backend.example`;
    const [command, args] = programs[language]();
    const env = { PATH: process.env['PATH'], DASHBOARD: url, TOKEN: token, EMAIL: email, PRODUCT: 'api-ip' };
    const { stdout } = await run(command, args, { env, timeout: 30_000 });
    expect(stdout).toMatch(/tg_test_\w+/);
    const { rows } = await dashboard.pool.query<{ products: string[]; subscribed: string[] }>(
      `SELECT array(SELECT product_id FROM credential_product p JOIN credential k ON k.id = p.credential_id WHERE k.customer_id = c.id) AS products,
         array(SELECT product_id FROM subscription s WHERE s.customer_id = c.id) AS subscribed
       FROM customer c WHERE email = $1`,
      [email],
    );
    expect(rows).toEqual([{ products: ['api-ip'], subscribed: ['api-ip'] }]);
  });
});
