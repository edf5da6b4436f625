import { testDatabase, type TestDatabase } from '../../support/postgres/postgres';
import { type CommandRun, runCommand } from '../../support/run-command';

/** Runs commands on a fresh database of the calling test file. */
export interface Commands {
  readonly database: () => TestDatabase;
  readonly run: (...argv: string[]) => Promise<CommandRun>;
  /** Runs a command with --json that must succeed, and reads the one line that it prints. */
  readonly json: (...argv: string[]) => Promise<any>;
  /** Runs a command that must fail, in both forms, and answers the JSON error's code and the human line. */
  readonly failure: (...argv: string[]) => Promise<{ code: string; line: string }>;
  /** Email address of a new customer. */
  readonly newCustomer: () => Promise<string>;
  /** A key for api-ip of a new customer. */
  readonly newKey: (...more: string[]) => Promise<any>;
}

/** A customer that exists from the start. */
export const CUSTOMER = 'buyer@example.com';

/** Call it at the top of a test file. */
export function useCommands(): Commands {
  let opened: TestDatabase | undefined;
  const database = (): TestDatabase => {
    if (!opened) throw new Error('the database is opened before the first test');
    return opened;
  };

  function run(...argv: string[]): Promise<CommandRun> {
    return runCommand(argv, { databaseUrl: database().url });
  }

  async function json(...argv: string[]): Promise<any> {
    const { code, stdout, stderr } = await run(...argv, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    return JSON.parse(stdout);
  }

  async function failure(...argv: string[]): Promise<{ code: string; line: string }> {
    const human = await run(...argv);
    expect(human).toMatchObject({ code: 1, stdout: '' });
    expect(human.stderr).toMatch(/^tollgate: [^\n]+\n$/);
    const machine = await run(...argv, '--json');
    expect(machine).toMatchObject({ code: 1, stdout: '' });
    const { error } = JSON.parse(machine.stderr);
    expect(human.stderr).toBe(`tollgate: ${error.message}\n`);
    return { code: error.code, line: human.stderr };
  }

  async function newCustomer(): Promise<string> {
    const email = `c${Math.random().toString(36).slice(2)}@example.com`;
    await json('customer', 'create', '--email', email);
    return email;
  }

  async function newKey(...more: string[]): Promise<any> {
    return json('key', 'create', '--customer', await newCustomer(), '--products', 'api-ip', ...more);
  }

  beforeAll(async () => {
    opened = await testDatabase();
    await json('customer', 'create', '--email', CUSTOMER);
  });

  afterAll(() => opened?.close());

  return { database, run, json, failure, newCustomer, newKey };
}
