import { answerLineIn, parseAnswerLine, requestIdOfLine } from '../../../plugins/core/access/answer-line';

const ID = 'dcea180d05edd8522f04e5397b1bec2f';
/** As Kong 3.9.3 sent them: an answer, one after a second attempt, a connection refused twice, a time-out, a client that left. */
const HEAD = '<190>Nov 24 12:40:03 tg: ';

it.each([
  ['200 0.002 5 0.001', { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true }],
  ['502 0.002 5 0.001', { status: 502, elapsedMs: 2, bytes: 5, isFromApi: true }],
  ['200 1.250 17 -, 0.003', { status: 200, elapsedMs: 1_250, bytes: 17, isFromApi: true }],
  ['502 0.003 126 -, -', { status: 502, elapsedMs: 3, bytes: 126, isFromApi: false }],
  ['502 0.003 126 0.001 : -', { status: 502, elapsedMs: 3, bytes: 126, isFromApi: false }],
  ['504 60.001 102 -', { status: 504, elapsedMs: 60_001, bytes: 102, isFromApi: false }],
  ['499 0.403 0 -', { status: 499, elapsedMs: 403, bytes: 0, isFromApi: false }],
  // HTTP/0.9, as nginx understands an answer that is no HTTP.
  ['009 0.005 11 0.005', { status: 502, elapsedMs: 5, bytes: 11, isFromApi: true }],
  // What the API says the answer costs.
  ['200 0.002 5 0.001 units=17', { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true, units: '17' }],
  ['200 1.250 17 -, 0.003 units=1, 2', { status: 200, elapsedMs: 1_250, bytes: 17, isFromApi: true, units: '1' }],
  ['200 0.002 5 0.001 units=-', { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true }],
  ['200 0.002 5 0.001 units=units=1', { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true, units: 'units=1' }],
  // HAProxy: whole milliseconds, and -1 for no answer.
  ['200 12 5 11', { status: 200, elapsedMs: 12, bytes: 5, isFromApi: true }],
  ['503 3001 107 -1', { status: 503, elapsedMs: 3_001, bytes: 107, isFromApi: false }],
])('an answer is read: %s', (line, answer) => {
  const text = answerLineIn(Buffer.from(`${HEAD}${ID} ${line}`)) ?? '';
  expect(requestIdOfLine(text)).toBe(ID);
  expect(parseAnswerLine(text)).toEqual({ requestId: ID, ...answer });
});

it.each(['', ID, `${ID} 200`, `${ID} 2000 0.1 5 -`, `${ID} 200 -1 5 -`, `${ID} 200 0.1 -5 -`, `${ID} 200 0.1 5`, `${ID} 200 0.1 5 ${'1'.repeat(201)}`, `x 200 0.1 5 -`, `${ID} 200 1e9 5 -`, `${ID} 200 0.1 5 0x1`, `${ID}\t200 0.1 5 -`])(
  'a line of another form says nothing: %j',
  (line) => expect(parseAnswerLine(line)).toBeUndefined(),
); // prettier-ignore

it.each(['', 'hello', 'tg:', `${'x'.repeat(65)}tg: ${ID} 200 0.1 5 -`, `tg: ${'x'.repeat(16_400)}`, '{', '{"status":'])('a datagram without a line is passed over: %j', (text) =>
  expect(answerLineIn(Buffer.from(text))).toBeUndefined(),
); // prettier-ignore

/** As Caddy 2.6.2 sent them: an answer of an API, one of its own, a client that left. */
it.each([
  [
    '"duration":0.002024483,"size":5,"status":200,"resp_headers":{"Date":["Tue, 24 Nov 2026 13:34:14 GMT"],"X-Kong-Request-Id":["ID"]}',
    { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true },
  ],
  [
    '"user_id":"units=17","duration":0.002,"size":5,"status":200,"resp_headers":{"Date":["Tue"],"X-Kong-Request-Id":["ID"]}',
    { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true, units: '17' },
  ],
  [
    '"user_id":"17","duration":0.002,"size":5,"status":200,"resp_headers":{"Date":["Tue"],"X-Kong-Request-Id":["ID"]}',
    { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true },
  ],
  [
    '"duration":0.00021504,"size":3,"status":502,"resp_headers":{"X-Kong-Request-Id":["ID"]}',
    { status: 502, elapsedMs: 0, bytes: 3, isFromApi: false },
  ],
  [
    '"duration":0.280655153,"size":0,"status":0,"resp_headers":{"X-Kong-Request-Id":["ID"]}',
    { status: 499, elapsedMs: 281, bytes: 0, isFromApi: false },
  ],
])('an answer of Caddy is read: %s', (members, answer) => {
  const line = answerLineIn(Buffer.from(`{"level":"info",${members.replace('ID', ID)}}\n`)) ?? '';
  expect(parseAnswerLine(line)).toEqual({ requestId: ID, ...answer });
});

it('an answer of HAProxy is read, whatever path comes after it', () => {
  const line = answerLineIn(Buffer.from(`{"answer":"tg: ${ID} 200 12 105 11","request_id":"${ID}","path":"/tg: ","status":200}\n`)) ?? '';
  expect(parseAnswerLine(line)).toEqual({ requestId: ID, status: 200, elapsedMs: 12, bytes: 105, isFromApi: true });
});
