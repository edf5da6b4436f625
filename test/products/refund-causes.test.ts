import { isRefunded, mostRefundsOf } from '../../plugins/core/catalogue/refunds';
import { type DriveFailureReason } from '../../services/products/gdplay/drive-failure';
import { answerFailure } from '../../services/kit/errors';
import { type FailureReason } from '../../services/products/pincode/provider';
import { refusalError, type SessionRefusal } from '../../services/workers/identity/refusals';
import { type SourceFailureReason } from '../../services/workers/identity/upstream/source-failure';
import { noForeground } from '../../services/workers/image/failures';
import { refusalOf } from '../../services/workers/image/upstream/frames';

/** A reason that is added to a product does not compile here before somebody has decided who pays. */
const REASONS: Readonly<Record<SourceFailureReason | DriveFailureReason | Exclude<FailureReason, 'no_records'>, boolean>> = {
  unreachable: true,
  bad_response: true,
  upstream_error: true,
  provider_quota: true,
  timeout: true,
  not_authorised: true,
  redirect_refused: true,
  locked: false,
  quota: false,
};

const REFUSALS: readonly SessionRefusal[] = [
  { code: 'session_expired' },
  { code: 'session_busy' },
  { code: 'invalid_sequence' },
  { code: 'attempts_exhausted' },
  { code: 'refreshes_exhausted' },
  { code: 'otp_expired' },
  { code: 'not_found' },
  { code: 'captcha_rejected', attemptsLeft: 1 },
  { code: 'otp_invalid', attemptsLeft: 1 },
  { code: 'otp_throttled', retryAfterSeconds: 1 },
];

describe('who pays for a failure', () => {
  it.each(Object.entries(REASONS))('is decided for the reason %s: refunded %s', (reason, expected) => {
    expect(isRefunded({ problem: 'upstream_failed', reason })).toBe(expected);
  });

  it.each(REFUSALS)('is the caller whose session says $code: numbers cannot be tried without limit', (refusal) => {
    expect(answerFailure(refusalError(refusal), 'request').isRefunded).toBe(false);
  });

  it('is the caller for a picture without a foreground, and not for a background remover that fails', () => {
    expect(answerFailure(noForeground(), 'request').isRefunded).toBe(false);
    expect(answerFailure(refusalOf('overloaded'), 'request').isRefunded).toBe(true);
    expect(answerFailure(refusalOf('internal'), 'request').isRefunded).toBe(true);
  });
});

describe('how many are given back a day', () => {
  it.each([
    [0, 10],
    [10, 10],
    [100, 10],
    [109, 10],
    [1_000, 100],
    [1_239, 123],
  ])('of a daily limit of %s: %s', (daily, most) => expect(mostRefundsOf(daily)).toBe(most));
});
