import { gzipSync } from 'node:zlib';
import { type SandboxUpstream } from '../sandbox-upstream';
import { isUnknown, numberFor, playMagic } from './seo-magic';

const CRAWLS = [
  {
    id: 'CC-MAIN-2026-08',
    name: 'February 2026 Index',
    timegate: 'https://index.commoncrawl.org/CC-MAIN-2026-08/',
    'cdx-api': 'https://index.commoncrawl.org/CC-MAIN-2026-08-index',
  },
];

const RANKS_AT = 'Fri, 20 Feb 2026 08:00:00 GMT';

/** Domain ranks sorted by harmonic centrality, with names reversed, in the published form of the web graph. */
const RANKS = [
  '#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\t#n_hosts',
  '1\t3.1E7\t2\t0.011\torg.wikipedia\t900',
  '2\t3.0E7\t1\t0.012\texample.blog\t12',
  '3\t2.9E7\t3\t0.009\texample.shop\t4',
  '4\t2.8E7\t4\t0.008\tin.co.bazaar\t2',
].join('\n');

function captureOf(domain: string, page: number): Record<string, string> {
  return {
    urlkey: `${domain.split('.').reverse().join(',')})/page-${page}`,
    timestamp: '20260214120000',
    url: `https://${domain}/page-${page}`,
    mime: 'text/html',
    'mime-detected': 'text/html',
    status: '200',
    digest: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    length: '1024',
    offset: '0',
    filename: 'crawl-data/CC-MAIN-2026-08/segments/0/warc/0.warc.gz',
  };
}

/** Common Crawl's index server, a JSON object a line, and its web graph's domain ranks. */
export function createSeoCommonCrawl(): SandboxUpstream {
  return {
    name: 'seo-common-crawl',
    examples: [],
    routes(app) {
      app.get('/collinfo.json', () => CRAWLS);
      app.get<{ Querystring: Record<string, string> }>('/CC-MAIN-2026-08-index', (request, reply) => {
        const { url = '', fl, limit = '15000' } = request.query;
        if (playMagic(url, reply)) return reply;
        // A URL of a single page: the front page of every known host was captured once, and nothing else.
        if (/^https?:/.test(url)) {
          const { hostname, pathname } = new URL(url);
          if (isUnknown(url) || pathname !== '/') return reply.code(404).send({ message: `No Captures found for: ${url}` });
          return reply.type('text/x-ndjson').send(`${JSON.stringify({ url: `https://${hostname}/` })}\n`);
        }
        const domain = url.replace(/^\*\./, '').replace(/\/\*$/, '');
        if (isUnknown(domain)) return reply.code(404).send({ message: `No Captures found for: ${url}` });
        const fields = fl?.split(',');
        const captures = Array.from({ length: 1 + numberFor(`${domain} pages`, 300) }, (_, page) => captureOf(domain, page)).slice(
          0,
          Number(limit),
        );
        const lines = captures.map((each) =>
          JSON.stringify(fields ? Object.fromEntries(fields.map((field) => [field, each[field]])) : each),
        );
        return reply.type('text/x-ndjson').send(`${lines.join('\n')}\n`);
      });
      app.get('/domain-ranks.txt.gz', (_request, reply) =>
        reply.type('binary/octet-stream').header('last-modified', RANKS_AT).send(gzipSync(RANKS)),
      );
    },
  };
}
