import { createRequire } from 'node:module';

const OneRealmEnvironment = createRequire(__filename)('./one-realm-environment.cjs');

it('what a file of tests changes of its worker is gone after it', async () => {
  const { env } = process;
  const ofProcess = (): unknown[] => [Reflect.get(process, 'exit'), process.exitCode, process.cwd(), process.listenerCount('SIGWINCH')];
  const before = ofProcess();
  env['STAYS'] = 'as it was';
  const environment = new OneRealmEnvironment({ projectConfig: { globals: { isGiven: true }, fakeTimers: {} } });
  expect(Reflect.get(globalThis, 'isGiven')).toBe(true);

  Object.assign(globalThis, { left: 'behind', [Symbol.for('left')]: 'behind', fetch: () => 'stolen' });
  Object.assign(process, { exit: () => 'held', exitCode: 7 });
  Object.assign(env, { STAYS: 'otherwise', LEFT: 'behind' });
  process.on('SIGWINCH', () => undefined);
  process.chdir('/');
  await environment.teardown();

  expect(['isGiven', 'left', Symbol.for('left')].filter((key) => Reflect.has(globalThis, key))).toEqual([]);
  expect(String(fetch)).not.toContain('stolen');
  expect(ofProcess()).toEqual(before);
  expect([env['STAYS'], env['LEFT']]).toEqual(['as it was', undefined]);
});

it('an error of a package or of node is an Error here', () => {
  expect(new DOMException('here')).toBeInstanceOf(Error);
  expect(structuredClone(new Error('here'))).toBeInstanceOf(Error);
});
