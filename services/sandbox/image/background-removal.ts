import sharp from 'sharp';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { drawPng } from '../png';
import type { SandboxExample, SandboxUpstream } from '../sandbox-upstream';

/** A red disc on white. */
const DISC = drawPng({ width: 64, height: 64, level: 9 }, (x, y) =>
  Math.hypot(x + 0.5 - 32, y + 0.5 - 32) < 64 / 3 ? [200, 40, 40] : [255, 255, 255],
);

const SUBPROTOCOL = 'bgremove.v1';
const ROUTE = '/image/background_remover';
/** Grey strips of this width stand for outcomes, selected by their height. Photographs are wider. */
const STRIP_WIDTH = 16;

function drawStrip(height: number): Buffer {
  return drawPng({ width: STRIP_WIDTH, height, level: 9 }, () => [128, 128, 128]);
}

type Send = (frame: object) => void;
type Outcome = (socket: WebSocket, send: Send, image: Buffer) => void | Promise<void>;

const refuse =
  (code: string): Outcome =>
  (_socket, send) =>
    send({ type: 'error', code, message: `the sandbox was asked for ${code}` });

/** Outcomes by the height of the strip. */
const OUTCOMES: Readonly<Record<number, Outcome>> = {
  400: refuse('invalid_image'),
  409: (_socket, send, image) => sendResult(send, image, { confidence: 0.2, uncertain: true }),
  413: refuse('too_large'),
  422: refuse('no_foreground'),
  429: refuse('overloaded'),
  500: refuse('internal'),
  501: (socket) => socket.send('this is not JSON'),
  502: (socket) => socket.terminate(),
  504: () => undefined,
};

function example(outcome: string, image: Buffer, yields: string): SandboxExample {
  const input = { image_base64: image.toString('base64') };
  return { product: 'api-image', route: ROUTE, method: 'POST', outcome, input, yields };
}

const strip = (outcome: string, height: number, yields: string): SandboxExample =>
  example(outcome, drawStrip(height), `${yields}; any image of ${STRIP_WIDTH} × ${height} pixels does this`);

const examples: readonly SandboxExample[] = [
  example('success', DISC, '200, the image inside an ellipse that touches its sides; so does any other image'),
  {
    ...example('success_finished', DISC, '200, WebP of 32 pixels on white'),
    input: { image_base64: DISC.toString('base64'), format: 'webp', max_side: 32, background: '#ffffff' },
  },
  strip('invalid_image', 400, '400: the upstream cannot read the image'),
  strip('too_large', 413, '400: the image is too large for the upstream'),
  strip('no_foreground', 422, '502 no_foreground'),
  strip('uncertain', 409, '502 cutout_uncertain'),
  {
    ...strip('uncertain_accepted', 409, '200, status uncertain'),
    input: { image_base64: drawStrip(409).toString('base64'), accept_uncertain: true },
  },
  strip('overloaded', 429, '502, reason overloaded'),
  strip('upstream_error', 500, '502, reason internal'),
  strip('bad_response', 501, '502, reason bad_response: the upstream sends something that is no frame'),
  strip('provider_down', 502, '502, reason unreachable: the upstream breaks the connection'),
  strip('timeout', 504, '504: the upstream accepts the image and never answers'),
];

const processFrame = z.object({
  type: z.literal('process'),
  id: z.string().min(1),
  image: z.string(),
  mime: z.enum(['image/png', 'image/jpeg', 'image/webp']),
  options: z.object({ format: z.literal('png') }),
});

/** Simulates a removed background: everything outside an ellipse becomes transparent. The same image always gives the same bytes. */
async function cutEllipse(image: Buffer): Promise<{ image: string; width: number; height: number }> {
  const { width, height } = await sharp(image).metadata();
  const ellipse = `<svg width="${width}" height="${height}"><ellipse cx="50%" cy="50%" rx="50%" ry="50%" fill="#fff"/></svg>`;
  const png = await sharp(image)
    .toColourspace('srgb')
    .ensureAlpha()
    .composite([{ input: Buffer.from(ellipse), blend: 'dest-in' }])
    .png()
    .toBuffer();
  return { image: png.toString('base64'), width, height };
}

async function sendResult(send: Send, image: Buffer, certainty: { readonly confidence: number; readonly uncertain?: true }): Promise<void> {
  send({ type: 'result', mime: 'image/png', engine: 'sandbox', ...certainty, ...(await cutEllipse(image)) });
}

async function answer(socket: WebSocket, frame: z.output<typeof processFrame>): Promise<void> {
  const send: Send = (body) => socket.send(JSON.stringify({ id: frame.id, ...body }));
  send({ type: 'accepted' });
  const image = Buffer.from(frame.image, 'base64');
  const { width, height } = await sharp(image).metadata();
  const outcome = width === STRIP_WIDTH ? OUTCOMES[height] : undefined;
  if (outcome) return outcome(socket, send, image);
  send({ type: 'progress', percent: 50 });
  await sendResult(send, image, { confidence: 1 });
}

function serve(socket: WebSocket): void {
  if (socket.protocol !== SUBPROTOCOL) return socket.close(1002, 'the subprotocol is bgremove.v1');
  socket.on('message', (data: Buffer) => {
    let json: unknown;
    try {
      json = JSON.parse(data.toString('utf8'));
    } catch {
      return socket.close(1007, 'not JSON');
    }
    const frame = processFrame.safeParse(json);
    // A cancellation needs no response.
    if (!frame.success)
      return z.object({ type: z.literal('cancel') }).safeParse(json).success ? undefined : socket.close(1008, 'unknown frame');
    const { id } = frame.data;
    answer(socket, frame.data).catch(() =>
      socket.send(JSON.stringify({ type: 'error', id, code: 'invalid_image', message: 'unreadable' })),
    );
  });
}

/** A background-removal WebSocket. */
export function createBackgroundRemoval(): SandboxUpstream {
  return { name: 'background-removal', examples, webSockets: { '/v1': serve } };
}
