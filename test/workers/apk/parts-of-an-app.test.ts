import { resolveValue, ResourceTable } from '../../../services/workers/apk/resources/resource-table';
import { textOf, VALUE } from '../../../services/workers/apk/resources/resources';
import { type EntryEncoding, writeResourceTable } from '../../support/apk/apk-resource-table';
import { readFileSync } from 'node:fs';
import { unprotectedParts } from '../../../services/workers/apk/code/elf-protections';
import { type ElfOptions, elfSample } from '../../support/apk/elf-sample';
import { TrackerFinder } from '../../../services/workers/apk/code/find-trackers';
import catalogue from '../../../services/workers/apk/code/trackers.json';
import { tmpdir } from 'node:os';
import { createLog } from '../../../services/kit/log';
import { createApkHandlers } from '../../../services/workers/apk/handler';

describe('resources', () => {
  const FIRST = 0x7f010000;

  function textsOf(table: ResourceTable, id: number): Record<string, string | undefined> {
    return Object.fromEntries(table.valuesOf(id).map(({ locale, value }) => [locale, textOf(value)]));
  }

  function resolved(table: ResourceTable, id: number): string | undefined {
    const value = resolveValue(table, { type: VALUE.reference, data: id });
    return value && textOf(value);
  }

  describe('a resource table', () => {
    it.each<EntryEncoding>(['plain', 'sparse', 'offset16', 'compact'])('gives the values of %s entries', (encoding) => {
      const table = new ResourceTable(
        writeResourceTable([
          { encoding, entries: { 0: 'zero', 3: 'three', 9: 'nine' } },
          { encoding, language: 'hi', entries: { 3: 'तीन' } },
        ]),
      );
      expect(textsOf(table, FIRST)).toEqual({ '': 'zero' });
      expect(textsOf(table, FIRST + 3)).toEqual({ '': 'three', hi: 'तीन' });
      expect(textsOf(table, FIRST + 9)).toEqual({ '': 'nine' });
      for (const missing of [1, 2, 8, 10, 0xffff]) expect(textsOf(table, FIRST + missing)).toEqual({});
    });

    it('follows references to the default value', () => {
      const table = new ResourceTable(
        writeResourceTable([
          { encoding: 'plain', language: 'hi', entries: { 1: 'हिन्दी' } },
          { encoding: 'plain', entries: { 0: FIRST + 1, 1: 'default' } },
        ]),
      );
      expect(resolved(table, FIRST)).toBe('default');
    });

    it('ends at references in a circle, to nothing, and to the platform', () => {
      const table = new ResourceTable(
        writeResourceTable([{ encoding: 'plain', entries: { 0: FIRST + 1, 1: FIRST, 2: FIRST + 77, 3: 0x01040000 } }]),
      );
      for (const entry of [0, 1, 2, 3]) expect(resolved(table, FIRST + entry)).toBeUndefined();
    });

    it('lists its texts', () => {
      const table = new ResourceTable(writeResourceTable([{ encoding: 'plain', entries: { 0: 'a', 1: 'हिन्दी', 2: '한 😀' } }]));
      expect([...table.strings()]).toEqual(['a', 'हिन्दी', '한 😀']);
    });
  });
});

describe('native code', () => {
  const partsOf = (bytes: Buffer): unknown => unprotectedParts(bytes, 'lib.so');

  describe.each([32, 64] as const)('a native library of %d bits', (bits) => {
    it.each<[string, ElfOptions, readonly string[]]>([
      ['whole', {}, []],
      ['with a stack that may run', { stack: 7 }, ['executable_stack']],
      ['that says nothing of its stack', { stack: null }, ['executable_stack']],
      ['whose tables stay writable', { hasRelro: false }, ['no_relro']],
      ['without the function of canaries', { names: ['malloc', 'my__stack_chk_fail', '__stack_chk_fail_not'] }, ['no_canary']],
      [
        'with all of it',
        { stack: 7, isShared: false, hasRelro: false, names: [] },
        ['executable_stack', 'fixed_address', 'no_canary', 'no_relro'],
      ],
    ])('%s', (_what, options, expected) => {
      expect(partsOf(elfSample({ bits, ...options }))).toEqual(expected);
    });

    it('that is cut or changed anywhere ends in an error of its format, or is judged', () => {
      const whole = elfSample({ bits });
      for (let at = 0; at < whole.length; at++) {
        const changed = Buffer.from(whole);
        changed.writeUInt8(changed.readUInt8(at) ^ 0xff, at);
        for (const bytes of [changed, whole.subarray(0, at)]) {
          try {
            partsOf(bytes);
          } catch (error) {
            expect(error).toMatchObject({ name: 'MalformedError' });
          }
        }
      }
    });
  });

  it('a program that a real compiler built is read', () => {
    expect(partsOf(readFileSync(process.execPath))).toEqual(expect.not.arrayContaining(['executable_stack', 'no_relro', 'no_canary']));
  });

  it.each(['', 'x', '\x7fELF sample', `\x7fELF\x02\x02${'\0'.repeat(60)}`])('%j is none that Android loads', (text) => {
    expect(partsOf(Buffer.from(text, 'latin1'))).toBeUndefined();
  });
});

describe('trackers', () => {
  const { trackers } = catalogue;

  function namesOf(...descriptors: string[]): string[] {
    const finder = new TrackerFinder();
    for (const each of descriptors) finder.look(each);
    return finder.list().map(({ name }) => name);
  }

  describe('the list of trackers', () => {
    it('has the vendor of every row as its source, and says when it was compared', () => {
      const SITE = /^[a-z0-9.-]+\.[a-z]{2,}(\/[\w./-]+)?$/;
      expect(trackers.filter(({ source }) => !SITE.test(source))).toEqual([]);
      expect(catalogue.asOf).toMatch(/^\d{4}-\d{2}-\d{2}$/);
      expect(trackers.filter(({ compared }) => compared.length === 0).length).toBeLessThan(5);
      expect(trackers.length).toBeGreaterThan(250);
    });

    it('names each tracker and each package once, and no package that many vendors share', () => {
      const packages = trackers.flatMap(({ classes }) => classes);
      expect(new Set(packages).size).toBe(packages.length);
      expect(new Set(trackers.map(({ name }) => name)).size).toBe(trackers.length);
      expect(packages.filter((name) => !/^[a-z]\w*(\.\w+){1,7}$/.test(name))).toEqual([]);
      const shared = ['com.google', 'com.android', 'com.facebook', 'com.microsoft', 'com.amazon', 'com.tencent', 'com.huawei', 'com.baidu'];
      expect(packages.filter((name) => shared.includes(name))).toEqual([]);
    });

    it.each(trackers.flatMap(({ name, classes }) => classes.map((prefix) => [prefix, name])))('finds %s as %s', (prefix, name) => {
      expect(namesOf(`L${prefix.replaceAll('.', '/')}/a/B;`)).toContain(name);
    });
  });

  it('a class of another name that only begins alike is no tracker', () => {
    expect(namesOf('Lcom/adjust/sdkish/Main;', 'Lcom/adjustable/sdk/Main;', 'Lio/sentryway/A;', 'Landroidx/core/A;')).toEqual([]);
  });
});

describe('uploads', () => {
  const LIMITS = { folder: tmpdir(), threadFile: '', deadlineMs: 1_000, cpuMs: 1_000, heapMebibytes: 32, analyses: 2 };
  const log = createLog('apk-worker', { level: 'silent' });
  const call = (subscriptionId: string, mode: 'live' | 'test') => ({ subscriptionId, mode, log, signal: new AbortController().signal });

  /** Uploads that send nothing until they are told to end, without a header. */
  function slowUploads() {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    async function* upload() {
      await ended;
      yield* [];
    }
    return { upload, end: () => end() };
  }

  it('slow uploads of one test key leave places for others, and all places are free once they have ended', async () => {
    const { Analyze } = createApkHandlers({ ...LIMITS, uploads: 16 });
    const outcomeOf = (subscription: string, mode: 'live' | 'test', upload: () => AsyncGenerator<never>) =>
      Analyze(upload(), call(subscription, mode)).then(
        () => 'analysed',
        (error: unknown) => (error instanceof Error ? error.message : 'unknown'),
      );
    const quick = slowUploads();
    quick.end();
    for (let round = 0; round < 3; round++) {
      const slow = slowUploads();
      const waiting = Array.from({ length: 4 }, () => outcomeOf('greedy', 'test', slow.upload));
      expect(await outcomeOf('greedy', 'test', quick.upload)).toBe('concurrency_exceeded');
      waiting.push(...Array.from({ length: 4 }, () => outcomeOf('second', 'test', slow.upload)));
      expect(await outcomeOf('third', 'test', quick.upload)).toBe('service_not_ready');
      expect(await outcomeOf('third', 'live', quick.upload)).toBe('invalid_request');
      slow.end();
      expect(await Promise.all(waiting)).toEqual(Array(8).fill('invalid_request'));
    }
  });
});
