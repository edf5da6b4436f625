import { DeadlinePassed, untilAborted, within } from '../../services/kit/deadline';

/** Work that fails in its own words, in the same turn as the signal fires. */
function failsOn(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted somehow')), { once: true }));
}

it('work that ends by itself when its deadline passes is reported as late, not in its own words', async () => {
  await expect(within(5, failsOn)).rejects.toBeInstanceOf(DeadlinePassed);
});

it('work that the caller cancels is reported with the reason of the caller', async () => {
  const leaving = new AbortController();
  const ended = within(60_000, failsOn, leaving.signal);
  leaving.abort(new Error('the caller left'));
  await expect(ended).rejects.toThrow('the caller left');
});

it('work that ignores its signal does not outlast it', async () => {
  const leaving = new AbortController();
  const ended = untilAborted(new Promise(() => undefined), leaving.signal);
  leaving.abort('the tab was closed');
  await expect(ended).rejects.toThrow('the client left');
});

it('a failure before the deadline stays what it is', async () => {
  await expect(within(60_000, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
});
