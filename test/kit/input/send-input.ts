import { createHarness } from '../harness';
import { sampleService } from '../service/sample-service';

/** One sample service in memory, for every test of what it reads. */
export const { call } = createHarness(sampleService, { deps: { act: () => ({}) } });

export const FORM = 'application/x-www-form-urlencoded';
export const JSON_BODY = 'application/json';

export type Sent = string | Buffer;
export const send = (payload: Sent, type: string, url = '/gst') =>
  call({ method: 'POST', url, payload, headers: { 'content-type': type } });

/** A part: header lines and content. */
type Part = readonly [headers: string, content: Sent];

export function multipart(parts: readonly Part[], end = '--'): { payload: Buffer; type: string } {
  const pieces = parts.flatMap(([headers, content]) => [`--XX\r\n${headers}\r\n\r\n`, content, '\r\n']);
  return {
    payload: Buffer.concat([...pieces, `--XX${end}\r\n`].map((each) => Buffer.from(each))),
    type: 'multipart/form-data; boundary=XX',
  };
}
export const field = (name: string, value: Sent): Part => [`Content-Disposition: form-data; name="${name}"`, value];
export const file = (name: string, value: Sent, filename = 'a.png'): Part => [
  `Content-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: image/png`,
  value,
];
export const sendParts = (parts: readonly Part[], url = '/gst') => {
  const { payload, type } = multipart(parts);
  return send(payload, type, url);
};
