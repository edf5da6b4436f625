import { checkWhitelist } from '../../../../plugins/core/access/whitelist';
import { compileWhitelist } from '../../../support/compile-whitelist';
import { WhitelistCompiler } from '../../../../plugins/stores/postgres/access-record/whitelist-compiler';

/** Every look at the clock takes a tenth of a millisecond, and turns of the event loop come when the test says. */
function setUp(): { compiler: WhitelistCompiler; waiting: () => number; turn: () => Promise<void>; steps: () => number } {
  let looks = 0;
  const turns: (() => void)[] = [];
  const clock = { monotonic: (): number => (looks += 1) / 10 };
  const compiler = new WhitelistCompiler({ clock, nextTurn: (work) => turns.push(work) });
  const turn = async (): Promise<void> => {
    turns.shift()?.();
    await Promise.resolve();
  };
  return { compiler, waiting: () => turns.length, turn, steps: () => looks };
}

const networks = (count: number, second = 0): string[] =>
  Array.from({ length: count }, (_, index) => `10.${second}.${index >> 8}.${index & 255}`);
const LONG = networks(100).join(' ');
const caller = (address: string): { address: string; originHost: undefined } => ({ address, originHost: undefined });

describe('the whitelist compiler', () => {
  it('makes what compileWhitelist makes', async () => {
    const rules = ['10.0.0.0/8', '2001:db8::/32', '*.example.com', 'shop.example.org'];
    expect(await new WhitelistCompiler().compile(rules.join(' '), rules.length)).toEqual(compileWhitelist(rules));
    expect(await new WhitelistCompiler().compile('', 0)).toEqual(compileWhitelist([]));
  });

  it('lets the event loop turn every millisecond', async () => {
    const { compiler, waiting, turn, steps } = setUp();
    const compiled = compiler.compile(LONG, 100);
    let turns = 0;
    for (; waiting() > 0; turns += 1) {
      const before = steps();
      await turn();
      expect(steps() - before).toBeLessThanOrEqual(11);
    }
    // 10 rules in each slice, the first of them before any turn.
    expect(turns).toBeGreaterThanOrEqual(9);
    expect(checkWhitelist(await compiled, caller('10.0.0.99')).admitted).toBe(true);
  });

  it('works one slice a turn, however many whitelists wait', async () => {
    const { compiler, waiting, turn, steps } = setUp();
    for (let second = 0; second < 10; second++) void compiler.compile(networks(100, second).join(' '), 100);
    expect(waiting()).toBe(1);
    const before = steps();
    await turn();
    expect(steps() - before).toBeLessThanOrEqual(11);
    expect(waiting()).toBe(1);
  });

  it('has few rules ready after one turn, however many rules wait', async () => {
    const { compiler, turn } = setUp();
    for (let second = 0; second < 10; second++) void compiler.compile(networks(100, second).join(' '), 100);
    let ready = false;
    void compiler.compile('192.0.2.1', 1).then(() => (ready = true));
    await turn();
    expect(ready).toBe(true);
  });

  it('compiles the same rules once', async () => {
    const { compiler, waiting, turn } = setUp();
    const [first, second] = [compiler.compile(LONG, 100), compiler.compile(LONG, 100)];
    while (waiting() > 0) await turn();
    expect(await first).toBe(await second);
    expect(await compiler.compile(LONG, 100)).toBe(await first);
  });

  it('refuses whitelists with a malformed rule, again and again, and goes on with others', async () => {
    const { compiler, waiting, turn } = setUp();
    const other = compiler.compile(LONG, 100);
    const refused = ['10.0.0.0/33', '10.0.0.0/33'].map((rule) => expect(compiler.compile(rule, 1)).rejects.toThrow('cannot be read'));
    refused.push(expect(compiler.compile('10.0.0.0/8 a.example', 1)).rejects.toThrow('cannot be read'));
    while (waiting() > 0) await turn();
    await Promise.all(refused);
    await expect(compiler.compile('10.0.0.0/33', 1)).rejects.toThrow('cannot be read');
    expect((await other).size).toBe(100);
  });
});
