import { readFileSync } from 'node:fs';
import { unprotectedParts } from '../../../services/workers/apk/code/elf-protections';
import { type ElfOptions, elfSample } from '../../support/apk/elf-sample';

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
