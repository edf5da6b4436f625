import { ServiceError } from '../../../../services/kit/errors';
import { answerOfFailure, parsePointAnswer } from '../../../../services/workers/ranking/grid/point-answer';

const parse = (body: object) => parsePointAnswer(JSON.stringify(body));

describe('the answer of a point', () => {
  it('is the rank, with the business that was matched', () => {
    const body = { ok: true, found: true, position: 4, checked: 20, match: { place_id: 'p', name: 'n', score: 1 }, candidates: [] };
    expect(parse(body)).toEqual({ status: 'ok', rank: 4, checked: 20, ambiguous: false, match: { placeId: 'p', name: 'n' } });
  });

  it('is no rank where the business is not in the list, and says when several may be it', () => {
    const none = { status: 'ok', rank: null, checked: 20, ambiguous: false, match: null };
    expect(parse({ ok: true, found: false, position: null, checked: 20, candidates: [] })).toEqual(none);
    expect(parse({ ok: true, found: false, position: null, checked: 20, candidates: [{}, {}] })).toEqual({ ...none, ambiguous: true });
  });

  it('takes the least that a source of rankings says', () => {
    const least = { status: 'ok', checked: null, ambiguous: false, match: null };
    expect(parse({ ok: true, position: 2 })).toEqual({ ...least, rank: 2 });
    expect(parse({ ok: true, found: false })).toEqual({ ...least, rank: null });
  });

  it.each([
    [{ ok: true }, 'bad_response'],
    [{ ok: true, position: 0 }, 'bad_response'],
    [{ ok: false, position: 3 }, 'upstream_error'],
  ])('%j is no answer: %s', (body, reason) => expect(parse(body)).toEqual({ status: 'error', reason }));

  it('is an error where the source failed', () => {
    expect(answerOfFailure(new ServiceError('upstream_timeout'))).toEqual({ status: 'error', reason: 'timeout' });
    const unreachable = new ServiceError('upstream_failed', { members: { reason: 'unreachable' } });
    expect(answerOfFailure(unreachable)).toEqual({ status: 'error', reason: 'unreachable' });
    expect(answerOfFailure(new ServiceError('upstream_failed'))).toEqual({ status: 'error', reason: 'upstream_error' });
  });

  it.each([new ServiceError('upstream_not_configured'), new TypeError('a defect')])('is not what fails everywhere: %s', (error) => {
    expect(() => answerOfFailure(error)).toThrow(error);
  });
});
