/**
 * How the figures of the analysis agree with aapt, aapt2 and androguard, on the apps that the tests build or on given ones.
 * Run: node cli/build.mjs && node dist/test/bench/apk-accuracy.js [APK or folder…]
 */
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type AndroguardFacts, askAndroguard } from '../support/apk/androguard';
import { ApkBuilder } from '../support/apk/apk-builder';
import {
  compareFigure,
  type Comparison,
  FIGURES,
  type Figures,
  figuresOfAndroguard,
  figuresOfBadging,
  figuresOfReport,
} from '../support/apk/apk-figures';
import { runTool } from '../support/apk/apk-tools';
import { analyzeFile } from '../support/apk/apk-worker';
import { buildOracleSamples } from '../support/apk/build-oracle-samples';

const ANDROGUARD = '/usr/lib/python3/dist-packages/androguard/core/bytecodes/apk.py';
/** Apps that one process of androguard reads, so that a slow one does not take the time of all. */
const BATCH = 10;
/** Characters of a difference. */
const SHOWN = 200;

/** A reader of APKs: what it gives for each file; undefined where it could not read it. */
interface Reader {
  readonly name: string;
  readonly read: (paths: readonly string[]) => Promise<ReadonlyMap<string, Figures | undefined>>;
}

const isInstalled = (program: string): boolean => (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));

async function readBadging(tool: 'aapt' | 'aapt2', paths: readonly string[]): Promise<Map<string, Figures | undefined>> {
  const found = new Map<string, Figures | undefined>();
  for (const path of paths) {
    const badging = await runTool(tool, ['dump', 'badging', path]).catch(() => undefined);
    found.set(path, badging === undefined ? undefined : figuresOfBadging(badging));
  }
  return found;
}

async function readWithAndroguard(paths: readonly string[]): Promise<Map<string, Figures | undefined>> {
  const found = new Map<string, Figures | undefined>();
  for (let start = 0; start < paths.length; start += BATCH) {
    const batch = paths.slice(start, start + BATCH);
    const { apps } = await askAndroguard(batch);
    for (const path of batch) {
      const facts: AndroguardFacts | null | undefined = apps[path]?.facts;
      found.set(path, facts ? figuresOfAndroguard(facts) : undefined);
    }
  }
  return found;
}

function findReaders(): Reader[] {
  const readers: Reader[] = [];
  for (const tool of ['aapt', 'aapt2'] as const) {
    if (isInstalled(tool)) readers.push({ name: tool, read: (paths) => readBadging(tool, paths) });
    else console.log(`${tool} is missing (Debian's package aapt): nothing is compared with it`);
  }
  if (existsSync(ANDROGUARD)) readers.push({ name: 'androguard', read: readWithAndroguard });
  else console.log("androguard is missing (Debian's package androguard): nothing is compared with it");
  return readers;
}

async function listApks(given: readonly string[]): Promise<string[]> {
  const lists = given.map(async (path) => {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = await readdir(path, { recursive: true });
    return names.filter((name) => name.endsWith('.apk')).map((name) => join(path, name));
  });
  return (await Promise.all(lists)).flat().sort();
}

async function analyzeAll(paths: readonly string[]): Promise<Map<string, Figures>> {
  const analyzed = new Map<string, Figures>();
  for (const path of paths) {
    try {
      analyzed.set(path, figuresOfReport(await analyzeFile(path)));
    } catch (error) {
      console.log(`${basename(path)}: refused, ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return analyzed;
}

/** What one side alone has; lists are words with spaces between. */
function describeDifference(ours = '', theirs = ''): string {
  const [mine, others] = [ours.split(' '), theirs.split(' ')];
  const only = (these: readonly string[], those: readonly string[]) =>
    these
      .filter((word) => !those.includes(word))
      .join(' ')
      .slice(0, SHOWN);
  return `ours alone: ${only(mine, others) || '-'} | theirs alone: ${only(others, mine) || '-'}`;
}

/** Prints each difference, then one line a figure. */
async function compareWith(reader: Reader, analyzed: ReadonlyMap<string, Figures>): Promise<void> {
  const answers = await reader.read([...analyzed.keys()]);
  const counts = new Map(FIGURES.map((figure) => [figure, { agreed: 0, differed: 0, 'not given': 0 }]));
  let unread = 0;
  for (const [path, ours] of analyzed) {
    const theirs = answers.get(path);
    if (!theirs) {
      unread++;
      continue;
    }
    for (const figure of FIGURES) {
      const outcome: Comparison = compareFigure(figure, ours, theirs);
      const count = counts.get(figure);
      if (count) count[outcome]++;
      if (outcome !== 'differed') continue;
      console.log(`${basename(path)}, ${figure}: ${describeDifference(ours[figure], theirs[figure])}`);
    }
  }
  console.log(`\n${reader.name}: ${analyzed.size - unread} apps read, ${unread} not`);
  console.log(`${''.padEnd(14)}${'agreed'.padStart(10)}${'differed'.padStart(10)}${'not given'.padStart(11)}`);
  for (const [figure, count] of counts) {
    console.log(
      `${figure.padEnd(14)}${String(count.agreed).padStart(10)}${String(count.differed).padStart(10)}${String(count['not given']).padStart(11)}`,
    );
  }
}

async function measure(paths: readonly string[], readers: readonly Reader[]): Promise<void> {
  const analyzed = await analyzeAll(paths);
  console.log(`${analyzed.size} of ${paths.length} apps analysed`);
  for (const reader of readers) await compareWith(reader, analyzed);
}

async function main(): Promise<void> {
  const readers = findReaders();
  const given = process.argv.slice(2);
  if (given.length > 0) {
    await measure(await listApks(given), readers);
    return;
  }
  const builder = await ApkBuilder.create();
  try {
    await measure(Object.values(await buildOracleSamples(builder)), readers);
  } finally {
    await builder.close();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
