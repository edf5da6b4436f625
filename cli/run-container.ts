import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSecrets } from './container/read-secrets';
import { type DatabaseRole } from './database-roles/privileges';

const HELP = `usage: docker run … tollgate ROLE

  plugin-server        beside each Kong, on a socket that both reach
  service NAME         one product service; none: only /refunds, for your own APIs
  worker NAME          one gRPC worker
  dashboard            the customers' dashboard
  sandbox              the simulated upstreams of test keys
  migrate              brings the database up to date and ends
  credentials HOST…    creates the credentials of the containers of one machine, and ends; HOST: the workers' names
  rotate-proofs        takes the next of three steps that replace the secret of proofs, and ends
  tollgate COMMAND …   the command line: keys, customers, subscriptions, usage, explain, check
  health ROLE          checks that the program of this container responds

A secret NAME may be in a file that NAME_FILE names. DATABASE_PASSWORD is put into DATABASE_URL.
`;

const ROOT = join(__dirname, '..', '..');

/** Programs read their own arguments from `process.argv`. They start when loaded, and end with the process. */
async function runProgram(module: string, args: readonly string[]): Promise<void> {
  const path = join(__dirname, '..', ...module.split('/'));
  if (!existsSync(path)) throw new Error(`this version has no ${module}`);
  process.argv = [process.execPath, path, ...args];
  await import(path);
}

/** Kong starts after the plugin server and shares a folder with it. */
async function prepareForKong(): Promise<void> {
  const to = process.env['KONG_TEMPLATES'];
  if (!to) return;
  const { writeKongTemplates } = await import('./container/kong-templates.js');
  writeKongTemplates({ from: join(ROOT, 'kong', 'templates'), to, env: process.env });
}

async function runMigrations(): Promise<void> {
  const { DATABASE_ADMIN_URL: adminUrl, DATABASE_LOGINS: logins } = process.env;
  if (adminUrl && logins) {
    const { createLogins } = await import('./database-roles/create-logins.js');
    await createLogins(adminUrl, JSON.parse(logins) as Record<DatabaseRole, string>);
  }
  const { migrateOnce } = await import('./container/migrate-once.js');
  const { catalogueFile } = await import('./supervisor/data-folder.js');
  const migrated = await migrateOnce(process.env['DATABASE_URL'], catalogueFile(ROOT, process.env));
  process.stdout.write(`${JSON.stringify({ migrated: true, ...migrated })}\n`);
}

async function runCredentials(workers: readonly string[]): Promise<void> {
  const { writeCredentials } = await import('./container/write-credentials.js');
  writeCredentials({ folder: process.env['CREDENTIALS_ROOT'] ?? '/credentials', env: process.env, workers });
  process.stdout.write(`${JSON.stringify({ credentials: true })}\n`);
}

/** What to do next after each step. */
const AFTER_ROTATION = {
  first: 'start everything',
  believe: 'give upstreams that verify with the public key set its two keys, restart the services, then run rotate-proofs again',
  sign: 'restart the plugin server, wait 60 s, then run rotate-proofs again',
  end: 'restart the services',
} as const;

async function runRotation(): Promise<void> {
  const { rotateProofs } = await import('./container/proof-credentials.js');
  const step = rotateProofs({ folder: process.env['CREDENTIALS_ROOT'] ?? '/credentials', env: process.env });
  process.stdout.write(`${JSON.stringify({ step, next: AFTER_ROTATION[step] })}\n`);
}

async function runCommandLine(argv: readonly string[]): Promise<void> {
  const { runTollgate } = await import('./run-tollgate.js');
  // No instance runs from this folder: commands use DATABASE_URL.
  process.exitCode = await runTollgate({ root: ROOT, argv, isSameProcess: () => false });
}

async function runHealthCheck(role: string | undefined): Promise<void> {
  const { checkHealth } = await import('./container/check-health.js');
  await checkHealth(role, process.env);
}

/** Entry point of the container image: the first argument selects which of our programs this container runs. */
async function main([role, ...rest]: readonly string[]): Promise<void> {
  if (role === undefined || role === 'help' || role === '--help') return void process.stdout.write(HELP);
  if (role === 'health') return runHealthCheck(rest[0]);
  Object.assign(process.env, readSecrets(process.env));
  const [name] = rest;
  switch (role) {
    case 'plugin-server':
      await prepareForKong();
      return runProgram('plugins/server/main.js', []);
    case 'service':
      return runProgram('services/products/main.js', name === 'none' ? ['--none'] : ['--service', name ?? '']);
    case 'worker':
      if (name === undefined || !/^[a-z-]+$/.test(name)) throw new Error('worker needs the name of a worker');
      return runProgram(`services/workers/${name}/main.js`, []);
    case 'dashboard':
      return runProgram('services/dashboard/main.js', []);
    case 'sandbox':
      return runProgram('services/sandbox/main.js', []);
    case 'migrate':
      return runMigrations();
    case 'credentials':
      return runCredentials(rest);
    case 'rotate-proofs':
      return runRotation();
    case 'tollgate':
      return runCommandLine(rest);
    default:
      throw new Error(`there is no role "${role}"; help lists them`);
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`tollgate: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
