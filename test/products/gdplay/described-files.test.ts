import { DescribedFiles } from '../../../services/products/gdplay/described-files';
import { driveFailure, driveTimeout, fileNotFound } from '../../../services/products/gdplay/drive-failure';
import { type DriveFile } from '../../../services/products/gdplay/drive-file';

const REF = { id: 'file-000001', resourceKey: undefined };
const { signal } = new AbortController();
const LIVE = { mode: 'live', signal } as const;
const TEST = { mode: 'test', signal } as const;

function setUp() {
  let nowMs = 1_000;
  const describe = jest.fn(() => Promise.resolve({ id: REF.id } as DriveFile));
  const files = new DescribedFiles({ describe }, { now: () => nowMs, monotonic: () => nowMs });
  return { describe, files, pass: (ms: number) => (nowMs += ms), work: jest.fn(() => Promise.resolve('done')) };
}

it('a description is used for a minute and no longer', async () => {
  const { describe, files, pass, work } = setUp();
  await files.use(REF, LIVE, work);
  pass(60_000);
  await files.use(REF, LIVE, work);
  expect(describe).toHaveBeenCalledTimes(1);
  pass(1);
  await files.use(REF, LIVE, work);
  expect(describe).toHaveBeenCalledTimes(2);
});

it('live and test keys, and resource keys, are kept apart', async () => {
  const { describe, files, work } = setUp();
  await files.use(REF, LIVE, work);
  await files.use(REF, TEST, work);
  await files.use({ ...REF, resourceKey: '0-a' }, LIVE, work);
  expect(describe).toHaveBeenCalledTimes(3);
});

it.each([
  ['is tried again', 'a bad response', driveFailure('bad_response'), 2],
  ['is tried again', 'a file that is gone', fileNotFound(), 2],
  ['is not tried again', 'a time-out', driveTimeout(), 1],
  ['is not tried again', 'an unknown error', new Error('broken'), 1],
])('work with a remembered description %s after %s', async (_what, _after, error, times) => {
  const { describe, files, work } = setUp();
  await files.use(REF, LIVE, () => Promise.resolve());
  work.mockRejectedValue(error);
  await expect(files.use(REF, LIVE, work)).rejects.toBe(error);
  expect(work).toHaveBeenCalledTimes(times);
  expect(describe).toHaveBeenCalledTimes(times);
});

it('work with a fresh description that fails is not tried again', async () => {
  const { files, work } = setUp();
  work.mockRejectedValue(driveFailure('quota'));
  await expect(files.use(REF, LIVE, work)).rejects.toThrow();
  expect(work).toHaveBeenCalledTimes(1);
});

it('a failure to describe is not remembered', async () => {
  const { describe, files, work } = setUp();
  describe.mockRejectedValueOnce(fileNotFound());
  await expect(files.use(REF, LIVE, work)).rejects.toThrow();
  expect(await files.use(REF, LIVE, work)).toBe('done');
});
