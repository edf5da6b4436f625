import { serve, type TestServer } from '../../support/http';

/** Answers what it received, in the shape of the recording's upstream. */
export function startEcho(): Promise<TestServer & { seen: string[] }> {
  const seen: string[] = [];
  return serve((request, response) => {
    const chunks: Buffer[] = [];
    seen.push(request.url ?? '');
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const { method, url, rawHeaders } = request;
      const answer = { n: seen.length, method, url, rawHeaders, bodyLen: body.length, body: body.toString('latin1').slice(0, 200) };
      response.setHeader('Content-Type', 'application/json');
      response.end(`${JSON.stringify(answer)}\n`);
    });
  }).then((started) => ({ ...started, seen }));
}
