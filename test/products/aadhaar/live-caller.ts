import { once } from 'node:events';
import { request } from 'node:http';
import { contextFor, proofHeader } from '../../kit/context';

/** Calls a service of Aadhaar with a live key, and keeps its answers with their headers. */
export class LiveCaller {
  readonly answers: string[] = [];
  constructor(private readonly port: number) {}

  /** With node:http, which shows headers as they were sent. */
  async say(path: string, payload: object): Promise<any> {
    const headers = { ...proofHeader(contextFor('api-aadhaar', { mode: 'live' })), 'content-type': 'application/json' };
    const sent = request({ port: this.port, host: '127.0.0.1', path, method: 'POST', headers });
    sent.end(JSON.stringify(payload));
    const [response] = await once(sent, 'response');
    let body = '';
    for await (const chunk of response) body += String(chunk);
    this.answers.push(JSON.stringify(response.rawHeaders) + body);
    return JSON.parse(body);
  }
}
