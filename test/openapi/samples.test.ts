import { readSampleAnswers } from '../../services/openapi/sample-answers';
import { SERVICES } from '../support/services';

const SAMPLES = Object.values(SERVICES).flatMap((service) => Object.entries(readSampleAnswers(service)));

/** Files that come with the service: what they say is true, whatever the key. */
const TRUE_FILES = ['city_database', 'asn_database'];
/** Members that name a source; in `sources` and `checked` each entry is one. */
const NAMES = ['source', 'provider', 'engine'];

/** Every source that an answer names, with where. */
function sourcesIn(value: unknown, at: string): [string, string][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value as Record<string, unknown>).flatMap(([name, member]): [string, string][] => {
    const place = `${at}.${name}`;
    if (NAMES.includes(name) && typeof member === 'string') return [[place, member]];
    if (name === 'ranks' && !Array.isArray(member)) return Object.keys(member as object).map((source) => [place, source]);
    const isList = name === 'sources' && Array.isArray(member);
    const listed = isList ? member.map((each: { name?: unknown }): [string, string] => [`${place}.name`, String(each.name)]) : [];
    return [...listed, ...sourcesIn(member, place)];
  });
}

// The rest of what `/app` answers is read off the caller's own file.
const OF_THE_FILE = ['secret_rules', 'tracker_list', 'code_signs'];

it('an answer that the sandbox made up says so wherever it names a source', () => {
  const named = SAMPLES.flatMap(([route, answer]) => sourcesIn(answer, route));
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(([, source]) => !source.startsWith('sandbox') && ![...TRUE_FILES, ...OF_THE_FILE].includes(source))).toEqual([]);
});

/** Every text in an answer that is a time of day, with where. */
function timesIn(value: unknown, at: string): [string, string][] {
  if (typeof value === 'string') return /^\d{4}-\d\d-\d\d[T ]\d\d:/.test(value) ? [[at, value]] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => timesIn(member, `${at}.${name}`));
}

it('a time in an answer says its offset, but for the timestamp whose form the specification fixes', () => {
  const times = SAMPLES.flatMap(([route, answer]) => timesIn(answer, route));
  expect(times.length).toBeGreaterThan(30);
  const isInstant = (text: string): boolean => /T.*(Z|[+-]\d\d:\d\d)$/.test(text);
  expect(times.filter(([at, text]) => at.endsWith('.timestamp') === isInstant(text))).toEqual([]);
});
