import { StoreUnavailable } from '../../../plugins/core/ports';
import { ReplyWatch } from '../../../plugins/stores/quota/quota-reply-watch';

/** Time that only the test moves: every step is one turn of the event loop. */
function createTime() {
  let now = 1_000;
  const clock = { now: () => now, monotonic: () => now };
  /** @param lateMs how long the loop was held up before the turn came */
  const turn = async (lateMs = 0): Promise<void> => {
    now += 5 + lateMs;
    await jest.advanceTimersByTimeAsync(5);
  };
  const turns = async (count: number): Promise<void> => {
    for (let done = 0; done < count; done++) await turn();
  };
  return { clock, turn, turns };
}

describe('ReplyWatch', () => {
  let time: ReturnType<typeof createTime>;
  let silences: number;
  let watch: ReplyWatch;
  beforeEach(() => {
    jest.useFakeTimers();
    time = createTime();
    silences = 0;
    watch = new ReplyWatch({
      store: 'Store',
      silenceMs: 20,
      heldUpSilenceMs: 100,
      deadlineMs: 1_000,
      clock: time.clock,
      onSilence: () => silences++,
    });
  });
  afterEach(() => jest.useRealTimers());

  const never = (): Promise<never> => new Promise<never>(() => undefined);
  async function outcome(call: Promise<unknown>): Promise<string> {
    return Promise.race([call.then(String, (cause: Error) => cause.name), Promise.resolve().then(() => Promise.resolve('open'))]);
  }

  it('hands on what the store answers', async () => {
    await expect(watch.guard(Promise.resolve('answer'))).resolves.toBe('answer');
    await expect(watch.guard(Promise.reject(new RangeError('no')))).rejects.toBeInstanceOf(RangeError);
  });

  it('gives every open call up once the store has been silent for long enough', async () => {
    const calls = [watch.guard(never()), watch.guard(never())];
    const outcomes = Promise.allSettled(calls);
    await time.turns(3);
    expect(silences).toBe(0);
    await time.turns(1);
    expect(silences).toBe(1);
    for (const settled of await outcomes) expect(settled).toMatchObject({ reason: expect.any(StoreUnavailable) });
  });

  it('waits on while other calls are answered', async () => {
    const slow = watch.guard(never());
    slow.catch(() => undefined);
    for (let round = 0; round < 20; round++) {
      await time.turns(3);
      await watch.guard(Promise.resolve());
    }
    expect(silences).toBe(0);
    expect(await outcome(slow)).toBe('open');
  });

  it('gives up a single call that others overtake until its deadline', async () => {
    const slow = watch.guard(never());
    const refused = expect(slow).rejects.toBeInstanceOf(StoreUnavailable);
    for (let round = 0; round < 100; round++) {
      await time.turns(2);
      await watch.guard(Promise.resolve());
    }
    await refused;
    expect(silences).toBe(0);
  });

  it.each([
    ['once for long', [5_000]],
    ['again and again', [90, 90, 90, 90]],
    ['for long and then for moments', [250, 3, 0, 15, 3]],
  ])('waits on for a store that was held up with this process, %s', async (_, stalls) => {
    let answer: (value: string) => void = () => undefined;
    const call = watch.guard(new Promise<string>((resolve) => (answer = resolve)));
    for (const lateMs of stalls) await time.turn(lateMs);
    // The store's own turn comes 14 ms after ours.
    await time.turns(3);
    expect(silences).toBe(0);
    answer('was held up too');
    await expect(call).resolves.toBe('was held up too');
  });

  it('finds a silent store after some turns of the loop, however late each of them comes', async () => {
    const call = watch.guard(never());
    call.catch(() => undefined);
    for (let round = 0; round < 4; round++) await time.turn(1_000);
    expect(silences).toBe(0);
    await time.turn(1_000);
    expect(silences).toBe(1);
  });

  it('finds a silent store on a busy machine too', async () => {
    const call = watch.guard(never());
    call.catch(() => undefined);
    for (let round = 0; round < 12; round++) await time.turn(5);
    expect(silences).toBe(1);
  });

  it('hands an answer that comes too late to whoever waits for it', async () => {
    let answer: (value: string) => void = () => undefined;
    const late: string[] = [];
    const call = watch.guard(new Promise<string>((resolve) => (answer = resolve)), (value) => late.push(value));
    call.catch(() => undefined);
    await time.turns(5);
    answer('late');
    await time.turns(1);
    expect(late).toEqual(['late']);
    await expect(call).rejects.toBeInstanceOf(StoreUnavailable);
  });
});
