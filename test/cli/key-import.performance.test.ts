import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { runFolder } from '../support/run-folder';
import { useDatabase } from '../support/postgres/use-database';

const KEYS = 1_000_000;
const MAX_MS = 180_000;
/** 300 MB. */
const MAX_RSS_MIB = 286;

// Both imports, on a busy machine.
jest.setTimeout(900_000);

const database = useDatabase();

/** JSON lines: a key each of ten thousand customers, then a second one each, and so on. None begins as a key of ours does. */
function writeKeys(path: string): void {
  const file = openSync(path, 'w');
  for (let index = 0; index < KEYS; index += 1) {
    const key = `shop-${createHash('sha256').update(String(index)).digest('base64url')}`;
    writeSync(file, `${JSON.stringify({ customer: `c${index % 10_000}@bulk.example`, key, name: `key ${index}` })}\n`);
  }
  closeSync(file);
}

it(`imports ${KEYS} keys within ${MAX_MS} ms and ${MAX_RSS_MIB} MiB, and knows them all the second time`, () => {
  const folder = join(runFolder(), 'key-import-bulk');
  mkdirSync(folder, { recursive: true });
  const [path, program] = [join(folder, 'keys.jsonl'), join(folder, 'import-keys.js')];
  writeKeys(path);
  const entryPoints = [join(__dirname, 'support', 'import-keys.ts')];
  buildSync({ entryPoints, outfile: program, bundle: true, platform: 'node', target: 'node20' });
  const run = (): Record<'imported' | 'known' | 'refused' | 'ms' | 'rssMiB', number> => {
    const env = { ...process.env, DATABASE_URL: database.url };
    const text = execFileSync(process.execPath, [program, path], { env, encoding: 'utf8' });
    process.stderr.write(text);
    return JSON.parse(text);
  };
  const first = run();
  expect(first).toMatchObject({ imported: KEYS, known: 0, refused: 0 });
  expect(first.ms).toBeLessThan(MAX_MS);
  expect(first.rssMiB).toBeLessThan(MAX_RSS_MIB);
  expect(run()).toMatchObject({ imported: 0, known: KEYS, refused: 0 });
});
