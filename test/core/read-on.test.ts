import { listProblems, problemOf } from '../../plugins/core/problems';
import { readOnSettings } from '../../plugins/core/read-on';

const readOn = (env: Record<string, string>) => readOnSettings.parse(env);
const requestId = '0123456789abcdef0123456789abcdef';
const at = readOn({ DASHBOARD_URL: 'https://dashboard.example.com/' });

describe('a refusal', () => {
  it('leads to the page of its code and to the explanation of its request', () => {
    expect(problemOf('key_missing', { requestId, readOn: at })).toMatchObject({
      type: 'https://dashboard.example.com/reference/errors#key_missing',
      help: `https://dashboard.example.com/explain?request=${requestId}`,
    });
  });

  it('of a limit keeps its registered type, which programs know', () => {
    const registered = 'https://iana.org/assignments/http-problem-types#quota-exceeded';
    for (const code of ['quota_daily_exceeded', 'quota_monthly_exceeded'] as const) {
      expect(problemOf(code, { requestId, readOn: at })).toMatchObject({ type: registered, help: expect.stringContaining(requestId) });
    }
  });

  it('leads to the seller’s own page of codes, where there is one', () => {
    const { type, help } = problemOf('key_expired', { requestId, readOn: readOn({ ERRORS_URL: 'https://docs.example.com/errors' }) });
    expect([type, help]).toEqual(['https://docs.example.com/errors#key_expired', undefined]);
  });

  it('names no address where none is configured', () => {
    expect(problemOf('key_missing', { requestId, readOn: readOn({}) })).toEqual(problemOf('key_missing', { requestId }));
    expect(problemOf('key_missing', { requestId })).toMatchObject({ type: 'about:blank' });
    expect(problemOf('key_missing', { requestId })).not.toHaveProperty('help');
  });

  it('of an inactive key leads where one of an unknown key does, and a finer code to its own page', () => {
    expect(problemOf('key_inactive', { requestId, readOn: at })).toEqual(problemOf('key_unknown', { requestId, readOn: at }));
    expect(problemOf('upstream_failed', { requestId, readOn: at, code: 'captcha_rejected' }).type).toMatch(/#captcha_rejected$/);
  });

  it('that nobody recorded offers no explanation', () => {
    expect(problemOf('ambiguous_path', { requestId, readOn: at, isRecorded: false })).not.toHaveProperty('help');
  });

  it.each(listProblems().map(({ code }) => code))('%s is at most 1 KiB, with the longest addresses and a limit’s members', (code) => {
    const longest = `https://${'d'.repeat(112)}`;
    const { plans = '', ...rest } = readOn({ DASHBOARD_URL: longest, ERRORS_URL: longest });
    const members = {
      retry_after: 2_678_400,
      limit: 2_000_000_000,
      resets_at: new Date(0).toISOString(),
      upgrade: `${plans}api-background-remover`,
    };
    const body = problemOf(code, { requestId, readOn: rest, members });
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(1_024);
  });
});

it.each([
  ['DASHBOARD_URL', 'dashboard.example.com'],
  ['ERRORS_URL', 'javascript:alert(1)'],
  ['ERRORS_URL', 'https://user:secret@docs.example.com'],
  ['DASHBOARD_URL', `https://${'d'.repeat(113)}`],
])('%s=%s is refused', (name, value) => {
  expect(readOnSettings.safeParse({ [name]: value }).success).toBe(false);
});
