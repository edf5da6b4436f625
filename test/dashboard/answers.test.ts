import { ANSWER_TIME_BOUNDS_MS as BOUNDS, answerTimePlace } from '../../plugins/core/selling/answer-times';
import { formatWithin, notKnown, sumAnswers, withinMs } from '../../services/dashboard/web/pages/usage/answers';

const NONE = new Array<number>(BOUNDS.length + 1).fill(0);
const answers = { succeeded: 5, rejected: 2, failed: 1, abandoned: 1, took: NONE.with(0, 4).with(2, 4) };

describe('the time of an answer', () => {
  it.each([
    [0, 0],
    [10, 0],
    [10.1, 1],
    [30_000, BOUNDS.length - 1],
    [30_001, BOUNDS.length],
  ])('%d ms has place %d', (elapsedMs, place) => {
    expect(answerTimePlace(elapsedMs)).toBe(place);
  });

  it('is told as the bound within which so many were sent', () => {
    const took = NONE.with(0, 50).with(4, 45).with(11, 5);
    expect([0.5, 0.51, 0.95, 0.96].map((share) => withinMs(took, BOUNDS, share))).toEqual([10, 250, 250, Infinity]);
    expect(withinMs(NONE, BOUNDS, 0.5)).toBeUndefined();
  });

  it.each([
    [undefined, '–'],
    [250, '250 ms'],
    [2_500, '2.5 s'],
    [Infinity, 'over 30 s'],
  ])('%p reads %s', (ms, text) => {
    expect(formatWithin(ms, BOUNDS)).toBe(text);
  });
});

describe('answers', () => {
  it('that nobody measured stay unknown, however many others were', () => {
    expect(sumAnswers([null, null])).toBeNull();
    expect(sumAnswers([])).toBeNull();
    expect(sumAnswers([null, answers, answers])).toEqual({
      succeeded: 10,
      rejected: 4,
      failed: 2,
      abandoned: 2,
      took: NONE.with(0, 8).with(2, 8),
    });
    expect(notKnown({ admitted: 20, answers })).toBe(11);
    expect(notKnown({ admitted: 20, answers: null })).toBe(20);
  });

  it('that were written before their requests make nothing less than none', () => {
    expect(notKnown({ admitted: 3, answers })).toBe(0);
  });
});
