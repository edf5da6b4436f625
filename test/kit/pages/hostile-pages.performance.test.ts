import { PageTooComplex, parsePage } from '../../../services/kit/pages/parse-page';
import { parseRobots } from '../../../services/kit/pages/robots';

const URL_TEXT = 'https://hostile.example/';
/** The most that is fetched of a page. */
const MAX_BYTES = 2_097_152;

const repeated = (piece: string) => (bytes: number) => piece.repeat(Math.floor(bytes / piece.length));
/** Markup that somebody made to be slow, by length. */
const HOSTILE: Readonly<Record<string, (bytes: number) => string>> = {
  'unclosed div': repeated('<div>'),
  'unclosed table': repeated('<table>'),
  'unclosed links': repeated('<a href=/x><b>'),
  'unclosed svg': repeated('<svg>'),
  'forms in a form': repeated('<form>'),
  'end tags without a start': (bytes) => '<div>'.repeat(510) + repeated('</i>')(bytes),
  'end tags of paragraphs': repeated('</p>'),
  'names in another case': (bytes) => '<svg><foreignObject>'.repeat(250) + repeated('</foreignobjecu>')(bytes),
  attributes: (bytes) => `<a${Array.from({ length: bytes / 9 }, (_, index) => ` x${index}`).join('')}>`,
  'half a tag': repeated('<'),
  entities: repeated('&ampx;&'),
  comments: repeated('<!--'),
  'styles that hide nothing': repeated('<p style="left:    -1">'),
  'a base before links': (bytes) => `<base href="/${'x'.repeat(bytes / 2)}/">${'<a href=y>z</a>'.repeat(2_000)}`,
};

/** Milliseconds of processor time, which a busy machine does not lengthen much; the least of three tries. */
function costOf(work: () => void): number {
  const costs = [0, 1, 2].map(() => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...costs);
}

function parseAnyway(html: string): void {
  try {
    parsePage(html, URL_TEXT);
  } catch (error) {
    if (!(error instanceof PageTooComplex)) throw error;
  }
}

/** Below it, a measurement is noise. */
const NOISE_MS = 40;

describe('twice the bytes cost about twice the time', () => {
  it.each(Object.entries(HOSTILE))('of %s', (_name, make) => {
    const [half, whole] = [make(MAX_BYTES / 2), make(MAX_BYTES)];
    parseAnyway(half);
    const [one, two] = [costOf(() => parseAnyway(half)), costOf(() => parseAnyway(whole))];
    expect(two).toBeLessThan(Math.max(one, NOISE_MS) * 3);
    // 131 s before there were limits.
    expect(two).toBeLessThan(2_000);
  });
});

it('a robots.txt of 500 KB costs one page less than a tenth of a second, whatever its rules and the path are', () => {
  const rules = ['/*a*a*a*a*a*a*b', `/*${'a'.repeat(60)}b`, '/*b', '/*a', '/a', '*'];
  for (const rule of rules) {
    const text = `User-agent: *\n${repeated(`Disallow: ${rule}\n`)(500_000)}`;
    const ask = parseRobots(text.replaceAll('Disallow: /*a\n', 'Disallow: /*ab\n'), 'TollgateBot');
    for (const path of ['a'.repeat(2_000), 'ab'.repeat(1_000), 'x'.repeat(100)]) {
      expect(costOf(() => ask(new URL(path, URL_TEXT)))).toBeLessThan(100);
    }
  }
  const names = `${'User-agent: x\n'.repeat(18_000)}${'Disallow: /a\n'.repeat(18_000)}`;
  expect(costOf(() => parseRobots(names, 'TollgateBot'))).toBeLessThan(300);
});
