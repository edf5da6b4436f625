import { listProblems } from '../../plugins/core/problems';
import { isRefunded } from '../../plugins/core/refunds';
import { apiDocument } from '../../services/dashboard/contract/api-document';
import { otherSuccesses, sendersOf } from '../../services/dashboard/contract/error-codes';
import { buildDocument } from '../../services/openapi/build-document';
import { listErrors } from '../../services/openapi/error-table';
import { REMEDIES } from '../../services/openapi/remedies';
import { CATALOGUE } from '../support/catalogue';

const errors = listErrors();
const document = apiDocument.parse(JSON.parse(JSON.stringify(buildDocument('https://api.example.com', CATALOGUE))));

/** `404 not_found`, for everything that some route declares. */
const declared = new Set(
  Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ responses }) => Object.entries(responses))
    .flatMap(([status, response]) => (response['x-codes'] ?? []).map((code) => `${status} ${code}`)),
);
const told = new Set(errors.flatMap(({ code, failures }) => failures.map(({ status }) => `${status} ${code}`)));

it('tells every code under every status that a route declares', () => {
  expect([...declared].filter((each) => !told.has(each))).toEqual([]);
});

it('tells nothing that no route declares, but what happens where no route is', () => {
  expect([...told].filter((each) => !declared.has(each))).toEqual(['404 route_unknown', '404 gateway_error']);
});

it('says of every code what to do, and of no other', () => {
  expect(errors.filter(({ remedy }) => remedy === '')).toEqual([]);
  expect(Object.keys(REMEDIES).sort()).toEqual(errors.map(({ code }) => code).sort());
});

it('is what the document carries', () => {
  expect(document['x-errors']).toEqual(errors);
});

it('says of a charge what the refunds do', () => {
  const charges = Object.fromEntries(
    errors.flatMap(({ code, failures }) => failures.map(({ status, charge }) => [`${status} ${code}`, charge])),
  );
  for (const { code: problem, status } of listProblems()) {
    if (problem === 'key_inactive') continue;
    const charge = charges[`${status} ${problem}`];
    if (charge !== 'not taken') expect([problem, charge]).toEqual([problem, isRefunded({ problem }) ? 'given back' : 'charged']);
  }
  expect(charges).toMatchObject({
    '401 key_missing': 'not taken',
    '429 quota_daily_exceeded': 'not taken',
    '429 concurrency_exceeded': 'given back',
    '401 gateway_proof_missing': 'charged',
    '400 otp_invalid': 'charged',
    '502 captcha_rejected': 'charged',
    '502 not_found': 'charged',
    '404 not_found': 'charged',
    '404 provider_error': 'charged',
    '502 provider_error': 'given back',
    '504 provider_error': 'given back',
    '504 pages_timeout': 'charged',
    '503 gateway_error': 'charged',
  });
});

it('names the products of a code that few send', () => {
  expect(sendersOf(document, 'apk_malformed')).toEqual(['api-app']);
  expect(sendersOf(document, 'key_missing')).toEqual([]);
  expect(sendersOf(document, 'route_unknown')).toEqual([]);
});

it('names the successes besides 200 with their routes', () => {
  expect(otherSuccesses(document).map(({ status, operations }) => [status, operations])).toEqual([
    ['206', ['GET /gdplay/stream', 'POST /gdplay/stream']],
    ['304', ['GET /gdplay/stream', 'POST /gdplay/stream']],
  ]);
});
