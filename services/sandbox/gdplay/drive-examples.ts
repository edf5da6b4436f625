import { DRIVE_FILES } from './drive-files';
import { type SandboxExample } from '../sandbox-upstream';

type Input = Readonly<Record<string, unknown>>;

function example(route: string, outcome: string, input: Input, yields: string): SandboxExample {
  return { product: 'api-gdplay', route, method: 'GET', outcome, input, yields };
}

function stream(outcome: string, id: string, yields: string): SandboxExample {
  return example('/gdplay/stream', outcome, { id }, yields);
}

function thumbnail(outcome: string, id: string, yields: string, more: Input = {}): SandboxExample {
  return example('/gdplay/thumbnail', outcome, { id, ...more }, yields);
}

function link(outcome: string, input: Input, yields: string): SandboxExample {
  return { ...example('/gdplay/link', outcome, input, yields), method: 'POST' };
}

const FOLDER_URL = `https://drive.google.com/drive/folders/${DRIVE_FILES.folder.id}`;

/** What the simulated Drive answers to which id. */
export const driveExamples: readonly SandboxExample[] = [
  example('/gdplay', 'success', {}, '200, the index of the product'),
  stream('success', DRIVE_FILES.video.id, '200, an MP4 of 4 s that players can seek in; 206 for a range'),
  example(
    '/gdplay/stream',
    'success_url',
    { url: `https://drive.google.com/file/d/${DRIVE_FILES.video.id}/view?usp=sharing` },
    '200, the same clip by its sharing link',
  ),
  stream('success_confirmed', DRIVE_FILES.scanned.id, '200, a clip behind the virus scan page'),
  stream('success_audio', DRIVE_FILES.audio.id, '200, a WAV of 1,000,003 bytes'),
  stream('success_large', DRIVE_FILES.large.id, '200, a WAV of 1 GiB; ask for ranges of it'),
  stream('success_untyped', DRIVE_FILES.untyped.id, '200 video/mp4: Drive names no media type, the file name does'),
  stream('not_found', 'sandbox-missing-01', '404, like every id that is not listed here'),
  stream('private', DRIVE_FILES.private.id, '404, the file is not shared'),
  stream('not_video', DRIVE_FILES.document.id, '415, a PDF'),
  example('/gdplay/stream', 'folder', { url: FOLDER_URL }, '400, a folder'),
  stream('quota', DRIVE_FILES.quota.id, '502, reason quota'),
  stream('provider_down', DRIVE_FILES.down.id, '502, reason unreachable'),
  stream('bad_response', DRIVE_FILES.webPage.id, '502, reason bad_response: a web page where the bytes should be'),
  stream('redirected_elsewhere', DRIVE_FILES.elsewhere.id, '502, reason redirect_refused'),
  stream('form_elsewhere', DRIVE_FILES.formElsewhere.id, '502, reason redirect_refused: the confirmation leads to a foreign host'),
  stream('stalls', DRIVE_FILES.stalls.id, '200 whose bytes stop after 65,536; the connection is cut when time runs out'),
  stream('timeout', DRIVE_FILES.silent.id, '504'),
  link('success', { id: DRIVE_FILES.video.id, expires_in: 600 }, '200, a path that plays the clip without a key for ten minutes'),
  link('not_found', { id: 'sandbox-missing-01' }, '404'),
  link('not_video', { id: DRIVE_FILES.document.id }, '415, a PDF'),
  link('timeout', { id: DRIVE_FILES.silent.id }, '504'),
  thumbnail('success', DRIVE_FILES.video.id, '200, a PNG of 320 × 180 pixels', { size: 320 }),
  thumbnail('success_json', DRIVE_FILES.video.id, '200, JSON with the picture in base64', { format: 'json' }),
  thumbnail('not_found', 'sandbox-missing-01', '404'),
  thumbnail('no_thumbnail', DRIVE_FILES.withoutThumbnail.id, '404, the file has no thumbnail'),
  thumbnail('not_video', DRIVE_FILES.document.id, '415, a PDF'),
  thumbnail('timeout', DRIVE_FILES.silent.id, '504'),
];
