import { chooseSample } from '../../cli/test-sample.mjs';

describe('the sample of a run', () => {
  it('is the same for the same commit, and each of the three for some', () => {
    const commits = Array.from({ length: 9 }, (_, index) => `1a2b3c4${index}`.padEnd(40, 'f'));
    expect(commits.map((commit) => chooseSample(undefined, commit))).toEqual(commits.map((commit) => chooseSample('', commit)));
    expect([...new Set(commits.map((commit) => chooseSample(undefined, commit)))].sort()).toEqual(['1', '2', '3']);
  });

  it('is the first outside a clone', () => {
    expect(chooseSample(undefined, undefined)).toBe('1');
  });

  it('is the one that TEST_SAMPLE names', () => {
    expect(['1', '2', '3', 'all'].map((wanted) => chooseSample(wanted, 'ffffffff'))).toEqual(['1', '2', '3', 'all']);
    expect(() => chooseSample('4', 'ffffffff')).toThrow('TEST_SAMPLE is 1, 2, 3 or all; not 4');
  });
});
