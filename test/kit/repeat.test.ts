import { repeat } from '../../services/kit/repeat';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('leaves out a turn while the work runs, goes on after an error, and waits for the run when it is closed', async () => {
  const ends: ((error?: Error) => void)[] = [];
  const work = (): Promise<void> => new Promise((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve())));
  const onError = jest.fn();
  const repeated = repeat(work, { everyMs: 1_000, onError });
  await jest.advanceTimersByTimeAsync(3_000);
  expect(ends).toHaveLength(1);

  ends[0]?.(new Error('away'));
  await jest.advanceTimersByTimeAsync(1_000);
  expect(onError.mock.calls).toEqual([[new Error('away')]]);
  expect(ends).toHaveLength(2);

  let isClosed = false;
  const closing = repeated.close().then(() => (isClosed = true));
  await jest.advanceTimersByTimeAsync(5_000);
  expect(isClosed).toBe(false);
  ends[1]?.();
  await closing;
  expect(ends).toHaveLength(2);
});

it('begins a run at once when it is asked to', () => {
  const work = jest.fn(() => Promise.resolve());
  const repeated = repeat(work, { everyMs: 1_000, onError: jest.fn() });
  repeated.run();
  expect(work).toHaveBeenCalledTimes(1);
  void repeated.close();
});
