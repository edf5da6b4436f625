import { Readable } from 'node:stream';
import { call, field, file, multipart, send, sendParts } from './send-input';

describe('files', () => {
  it('are kept in memory where a route asks for them', async () => {
    expect((await sendParts([file('image', 'PNGDATA', '../../etc/a.png')], '/files')).json()).toEqual({
      text: null,
      files: [{ field: 'image', filename: 'a.png', mediaType: 'image/png', size: 7 }],
    });
    expect((await sendParts([field('image', 'aGk=')], '/files')).json()).toEqual({ text: 'aGk=', files: [] });
    expect((await sendParts([file('image', 'a'), file('image', 'b')], '/files')).statusCode).toBe(400);
  });

  it('an upload is streamed from a multipart field, with the fields before it as input', async () => {
    const answer = await sendParts([field('note', 'n'), file('apk', 'x'.repeat(3_000)), field('after', 'ignored')], '/upload');
    expect(answer.json()).toEqual({ bytes: 3_000, field: 'apk', note: 'n' });
  });

  it('an upload needs no file name', async () => {
    expect((await sendParts([field('apk', 'x'.repeat(3_000))], '/upload')).json()).toEqual({ bytes: 3_000, field: 'apk', note: null });
  });

  it('an upload is streamed from a raw body of a listed type', async () => {
    expect((await send('x'.repeat(4_096), 'application/octet-stream', '/upload?note=q')).json()).toEqual({
      bytes: 4_096,
      field: null,
      note: 'q',
    });
  });

  it('a body of another type is a 415 that says what is taken', async () => {
    const answer = await send('x', 'application/zip', '/upload');
    expect(answer.statusCode).toBe(415);
    expect(answer.json().detail).toBe('Send the file as multipart/form-data or as application/octet-stream.');
  });

  it('no file, or a file under another name, is a 400', async () => {
    expect((await call({ method: 'POST', url: '/upload' })).statusCode).toBe(400);
    expect((await sendParts([field('note', 'n')], '/upload')).json().detail).toBe('No file was sent.');
    expect((await sendParts([file('other', 'n')], '/upload')).json().errors).toEqual([
      { field: 'other', message: 'must be text, not a file: send the file as file or apk' },
    ]);
  });

  it.each(['/upload', '/upload/swallowing'])('an upload over the limit is 413 whatever the handler makes of it (%s)', async (url) => {
    const big = 'x'.repeat(70_000);
    expect((await send(big, 'application/octet-stream', url)).statusCode).toBe(413);
    const answer = await sendParts([file('file', big)], url);
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toMatchObject({ code: 'payload_too_large', limit_bytes: 4_096 });
    const huge = await sendParts([file('file', 'x'.repeat(2_000_000))], url);
    expect([huge.statusCode, huge.json().limit_bytes]).toEqual([413, 4_096]);
  });

  it.each(['/upload', '/upload/swallowing'])('an upload without a declared length is cut at the limit (%s)', async (url) => {
    const chunks = (): NodeJS.ReadableStream => Readable.from(Array.from({ length: 20 }, () => Buffer.alloc(1_000)));
    const headers = { 'content-type': 'application/octet-stream', 'transfer-encoding': 'chunked' };
    expect((await call({ method: 'POST', url, payload: chunks(), headers })).statusCode).toBe(413);
  });

  it('a file of just the limit is taken, in a form as alone, whatever stands beside it', async () => {
    const whole = 'x'.repeat(4_096);
    const note = 'n'.repeat(100_000);
    expect((await sendParts([field('note', note), file('file', whole)], '/upload')).json()).toMatchObject({ bytes: 4_096 });
    expect((await send(`${whole}x`, 'application/octet-stream', '/upload')).json().limit_bytes).toBe(4_096);
    expect((await sendParts([file('file', `${whole}x`)], '/upload')).json()).toMatchObject({ status: 413, limit_bytes: 4_096 });
  });

  it.each([
    ['under the same name', [file('file', 'one'), file('file', 'one')], 'file'],
    ['under another name of the field', [file('file', 'one'), field('note', 'n'), field('apk', 'two')], 'apk'],
  ])('a second upload %s is a 400: neither is taken', async (_what, parts, name) => {
    for (const url of ['/upload', '/upload/swallowing'].slice(0, name === 'apk' ? 1 : 2)) {
      const answer = await sendParts(parts, url);
      expect([answer.statusCode, answer.json().errors]).toEqual([400, [{ field: name, message: 'is a second file: send one' }]]);
    }
  });

  it('a multipart upload that ends early is a 400', async () => {
    const { payload, type } = multipart([file('file', 'x'.repeat(2_000))]);
    expect((await send(payload.subarray(0, 1_500), type, '/upload')).statusCode).toBe(400);
  });
});
