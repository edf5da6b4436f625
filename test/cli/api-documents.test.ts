import { type RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type ApiDocuments, readApiDocuments } from '../../cli/api-documents';
import { createCatalogue } from '../../plugins/core/catalogue/catalogue';
import { serve } from '../gateway/support/echo-server';
import { PRODUCTS } from '../support/catalogue';

const OWN = { openapi: '3.1.0', paths: { '/a': {} } };

/** What is read of a product whose document lies on a server that answers so. */
async function readFrom(answer: RequestListener, path = '/'): Promise<ApiDocuments & { readonly document: unknown }> {
  const server = await serve(answer);
  const read = await readApiDocuments(createCatalogue([{ ...PRODUCTS[0]!, openapi: server.url + path }]), 'catalogue.yml');
  await server.close();
  return { ...read, document: [...read.documents.values()][0] };
}

describe('a document on a server', () => {
  it('is read behind redirects, and where it is kept packed', async () => {
    const { document } = await readFrom(({ url = '' }, response) => {
      if (url === '/old') response.writeHead(301, { location: '/new' }).end();
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(OWN)));
    }, '/old');
    expect(document).toEqual(OWN);
  });

  it('is not read for ever, nor larger than may be when it is unpacked', async () => {
    const { unusable: around } = await readFrom((_request, response) => response.writeHead(302, { location: '/' }).end());
    expect(around).toEqual([expect.stringContaining('it answers 302')]);
    const bomb = gzipSync(Buffer.alloc(9 * 1024 * 1024));
    const { unusable: packed } = await readFrom((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    const { unusable: endless } = await readFrom((_request, response) => void response.write(Buffer.alloc(9 * 1024 * 1024, '{')));
    expect([packed, endless]).toEqual(Array(2).fill([expect.stringContaining('it has more than 8 MiB')]));
  });

  it('that is not there is told with the reason', async () => {
    const { unusable } = await readApiDocuments(createCatalogue([{ ...PRODUCTS[0]!, openapi: 'http://localhost:1/' }]), 'catalogue.yml');
    expect(unusable).toEqual([expect.stringContaining('ECONNREFUSED')]);
  });
});
