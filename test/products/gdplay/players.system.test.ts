import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import send from 'send';
import { ensurePackages } from '../../support/debian-packages';
import { contextFor, proofHeader } from '../../kit/context';
import { gdplayDeps, type Listening, listenGdplay } from './gdplay-harness';
import { listenWeb, type Web } from '../../kit/listen-web';
import { newFolder } from '../../support/run-folder';

const run = promisify(execFile);
const ID = 'live-file-0001';
const HEADERS = proofHeader(contextFor('api-gdplay'));
const folder = newFolder();
const file = join(folder, 'long.mp4');
/** Between the pictures and their index, so that a player cannot find one by reading on from the other. */
const GAP_BYTES = 12_000_000;

let upstream: Web;
let service: Listening;

/** Six seconds of moving pictures, a key frame each second, with the index at the end of the file as cameras write it. */
async function recordVideo(): Promise<void> {
  const source = ['-f', 'lavfi', '-i', 'testsrc=duration=6:size=160x90:rate=10'];
  const plain = join(folder, 'plain.mp4');
  await run('ffmpeg', ['-v', 'error', ...source, '-c:v', 'mpeg4', '-g', '10', '-y', plain]);
  const bytes = readFileSync(plain);
  const index = bytes.lastIndexOf('moov') - 4;
  const gap = Buffer.alloc(GAP_BYTES);
  gap.writeUInt32BE(GAP_BYTES, 0);
  gap.write('free', 4);
  writeFileSync(file, Buffer.concat([bytes.subarray(0, index), gap, bytes.subarray(index)]));
}

async function ffprobe(...args: string[]): Promise<string> {
  const proof = `x-tollgate-context: ${HEADERS['x-tollgate-context']}\r\n`;
  const url = `${service.url}/gdplay/stream?id=${ID}`;
  const { stdout } = await run('ffprobe', ['-v', 'error', '-headers', proof, ...args, '-of', 'csv=p=0', url]);
  return stdout.trim();
}

const ranges = (): string[] => upstream.asked.flatMap(({ headers }) => headers.range ?? []);

beforeAll(async () => {
  await ensurePackages(['ffmpeg', 'ffprobe'], 'The tests with a player');
  await recordVideo();
  upstream = await listenWeb((request, response, url) => {
    if (url.searchParams.get('alt') === 'media') return void send(request, file, { etag: false, lastModified: false }).pipe(response);
    response.setHeader('content-type', 'application/json');
    return void response.end(JSON.stringify({ id: ID, name: 'long.mp4', mimeType: 'video/mp4', size: String(readFileSync(file).length) }));
  });
  service = await listenGdplay(gdplayDeps({ GDPLAY_API_URL: upstream.url, GDPLAY_API_KEY: 'live-api-key-1' }));
});

afterAll(async () => {
  await service?.close();
  await upstream?.close();
});

describe('a player (ffprobe)', () => {
  it('finds what the video is by going to its end first', async () => {
    expect(await ffprobe('-select_streams', 'v', '-show_entries', 'stream=codec_name,width,height:format=duration')).toBe(
      'mpeg4,160,90\n6.000000',
    );
    const jumps = ranges().filter((range) => Number(/^bytes=(\d+)-/.exec(range)?.[1]) > GAP_BYTES);
    expect(jumps).not.toEqual([]);
  });

  it('seeks to a moment in the middle and gets the pictures from there on', async () => {
    const shown = await ffprobe('-read_intervals', '4%+0.3', '-select_streams', 'v', '-show_entries', 'packet=pts_time,flags');
    expect(shown.split('\n')[0]).toMatch(/^4\.000000,K/);
  });
});
