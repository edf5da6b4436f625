import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import faults from './faults.json';
import { projectRoot } from '../project-root';

/** What a process answered at `/metrics`, before a fault and at its end; undefined where it did not answer. */
export interface Scrapes {
  readonly before: string | undefined;
  readonly during: string | undefined;
  /** When each was asked, by this machine's clock. */
  readonly atMs: { readonly before: number; readonly during: number };
}

const PROGRAM = process.env['PROMTOOL_BIN'] ?? 'promtool';

function findPromtool(): boolean {
  try {
    execFileSync(PROGRAM, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('not asked which alerts fire: there is no promtool (PROMTOOL_BIN, or Debian’s prometheus)');
    return false;
  }
}

let isThere: boolean | undefined;

/** Prometheus's own evaluator of the rules. Where it is absent, a line says so. */
function hasPromtool(): boolean {
  isThere ??= findPromtool();
  return isThere;
}

const INTERVAL_S = 30;
/** All went as before for ten minutes; then each half minute was as the fault, for longer than any rule waits. */
const [BEFORE, DURING] = [20, 50];

interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

function samplesOf(text: string): Map<string, Sample> {
  const lines = text.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/gm);
  return new Map(
    [...lines].map(([, name = '', labels = '', value = '']) => [`${name}{${labels}}`, { name, labels, value: Number(value) }]),
  );
}

/** Names whose values only grow: counters, the parts of histograms, and when a process began. */
function growingOf(text: string): Set<string> {
  const types = [...text.matchAll(/^# TYPE (\w+) (counter|histogram|summary)$/gm)];
  const parts = ['_bucket', '_sum', '_count'];
  const counted = types.flatMap(([, name = '', type]) => (type === 'counter' ? [name] : parts.map((end) => name + end)));
  return new Set([...counted, 'process_start_time_seconds']);
}

const times = (count: number, value: (at: number) => number | string): string =>
  Array.from({ length: count }, (_, at) => value(at)).join(' ');

/** The clock of a process: as far off Prometheus's, whose time begins at 0 here, as it was off this machine's. */
const CLOCK = 'tollgate_clock_seconds';

function clockValues(old: Sample | undefined, now: Sample, { before, during }: Scrapes['atMs']): string {
  const offBefore = old && old.value - before / 1_000;
  const offDuring = now.value - during / 1_000;
  const first = times(BEFORE, (at) => (offBefore === undefined ? '_' : at * INTERVAL_S + offBefore));
  return `${first} ${times(DURING, (at) => (BEFORE + at) * INTERVAL_S + offDuring)}`;
}

function inputSeries({ before = '', during, atMs }: Scrapes): { series: string; values: string }[] {
  const up = {
    series: 'up{job="tollgate-plugin-server",instance="node"}',
    values: `${times(BEFORE, () => 1)} ${times(DURING, () => (during === undefined ? 0 : 1))}`,
  };
  const [old, now] = [samplesOf(before), samplesOf(during ?? '')];
  const growing = growingOf(before + (during ?? ''));
  const found = [...now].map(([id, sample]) => {
    const { name, labels, value } = sample;
    const was = old.get(id)?.value;
    // A process that began anew counts from 0.
    const from = was !== undefined && was <= value ? was : 0;
    const growth = growing.has(name) ? value - from : 0;
    const first = times(BEFORE, () => was ?? '_');
    const own = `job="tollgate-plugin-server",instance="node"`;
    const series = `${name}{${labels === '' ? own : `${labels},${own}`}}`;
    if (name === CLOCK) return { series, values: clockValues(old.get(id), sample, atMs) };
    return {
      series,
      values: `${first} ${times(DURING, (at) => (growth === 0 ? value : from + growth * (at + 1)))}`,
    };
  });
  return [up, ...found];
}

/** Which rules of docs/grafana/alerts.yml fire, where every half minute goes as the fault did. */
async function askPromtool(scrapes: Scrapes, atMinute: number): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'alerts-'));
  try {
    copyFileSync(join(projectRoot, 'docs/grafana/alerts.yml'), join(folder, 'alerts.yml'));
    const expr = 'count by (alertname) (ALERTS{alertstate="firing"})';
    const tests = [
      {
        interval: `${INTERVAL_S}s`,
        input_series: inputSeries(scrapes),
        promql_expr_test: [{ expr, eval_time: `${atMinute}m`, exp_samples: [] }],
      },
    ];
    writeFileSync(join(folder, 'test.yml'), stringify({ rule_files: ['alerts.yml'], evaluation_interval: `${INTERVAL_S}s`, tests }));
    const said = await promisify(execFile)(PROGRAM, ['test', 'rules', join(folder, 'test.yml')], { maxBuffer: 1e8 }).catch(
      (failure: unknown) => failure as { stdout: string; stderr: string },
    );
    const text = said.stdout + said.stderr;
    if (!/SUCCESS|got:/.test(text)) throw new Error(`promtool could not test the rules: ${text}`);
    return [...new Set([...text.matchAll(/alertname=\\?"(\w+)\\?"/g)].map(([, name = '']) => name))];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** When both are asked: at the end of what was before, and at the end of it all. */
const BEFORE_MIN = Math.floor((BEFORE * INTERVAL_S) / 60) - 1;
const END_MIN = Math.floor(((BEFORE + DURING - 1) * INTERVAL_S) / 60);

/** A fault of the suite. Where several alerts are in a list of their own, any of them will do. */
export interface ListedFault {
  readonly name: string;
  readonly alerts?: readonly (string | readonly string[])[];
  /** Why nobody is told. */
  readonly none?: string;
}

/** @throws Error for a fault that the list does not have */
function alertsOf(fault: string): readonly (string | readonly string[])[] {
  const listed = (faults as readonly ListedFault[]).find(({ name }) => name === fault);
  if (!listed) throw new Error(`test/support/faults/faults.json does not name "${fault}"`);
  return listed.alerts ?? [];
}

/** Fails unless the alerts that test/support/faults/faults.json names fire if the fault lasts, and none of them before it. */
export async function expectAlertsOf(fault: string, scrapes: Scrapes): Promise<void> {
  const alerts = alertsOf(fault);
  if (alerts.length === 0 || !hasPromtool()) return;
  const early = await askPromtool(scrapes, BEFORE_MIN);
  expect(early.filter((each) => alerts.flat().includes(each))).toEqual([]);
  const late = await askPromtool(scrapes, END_MIN);
  const silent = alerts.filter((wanted) => ![wanted].flat().some((each) => late.includes(each)));
  expect({ silent, late }).toEqual({ silent: [], late });
}
