import { answerLineIn, parseAnswerLine, requestIdOfLine } from '../../../plugins/core/access/answer-line';

const ID = 'dcea180d05edd8522f04e5397b1bec2f';
/** As Kong 3.9.3 sent them: an answer, one after a second attempt, a connection refused twice, a time-out, a client that left. */
const HEAD = '<190>Nov 24 12:40:03 tg: ';

test.each([
  ['200 0.002 5 0.001', { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true }],
  ['502 0.002 5 0.001', { status: 502, elapsedMs: 2, bytes: 5, isFromApi: true }],
  ['200 1.250 17 -, 0.003', { status: 200, elapsedMs: 1_250, bytes: 17, isFromApi: true }],
  ['502 0.003 126 -, -', { status: 502, elapsedMs: 3, bytes: 126, isFromApi: false }],
  ['502 0.003 126 0.001 : -', { status: 502, elapsedMs: 3, bytes: 126, isFromApi: false }],
  ['504 60.001 102 -', { status: 504, elapsedMs: 60_001, bytes: 102, isFromApi: false }],
  ['499 0.403 0 -', { status: 499, elapsedMs: 403, bytes: 0, isFromApi: false }],
  // HTTP/0.9, as nginx understands an answer that is no HTTP.
  ['009 0.005 11 0.005', { status: 502, elapsedMs: 5, bytes: 11, isFromApi: true }],
  // HAProxy: whole milliseconds, and -1 for no answer.
  ['200 12 5 11', { status: 200, elapsedMs: 12, bytes: 5, isFromApi: true }],
  ['503 3001 107 -1', { status: 503, elapsedMs: 3_001, bytes: 107, isFromApi: false }],
])('an answer is read: %s', (line, answer) => {
  const text = answerLineIn(Buffer.from(`${HEAD}${ID} ${line}`)) ?? '';
  expect(requestIdOfLine(text)).toBe(ID);
  expect(parseAnswerLine(text)).toEqual({ requestId: ID, ...answer });
});

test.each(['', ID, `${ID} 200`, `${ID} 2000 0.1 5 -`, `${ID} 200 -1 5 -`, `${ID} 200 0.1 -5 -`, `${ID} 200 0.1 5`, `${ID} 200 0.1 5 ${'1'.repeat(201)}`, `x 200 0.1 5 -`, `${ID} 200 1e9 5 -`, `${ID} 200 0.1 5 0x1`, `${ID}\t200 0.1 5 -`])(
  'a line of another form says nothing: %j',
  (line) => expect(parseAnswerLine(line)).toBeUndefined(),
); // prettier-ignore

test.each(['', 'hello', 'tg:', `${'x'.repeat(65)}tg: ${ID} 200 0.1 5 -`, `tg: ${'x'.repeat(600)}`])('a datagram without a line is passed over: %j', (text) =>
  expect(answerLineIn(Buffer.from(text))).toBeUndefined(),
); // prettier-ignore
