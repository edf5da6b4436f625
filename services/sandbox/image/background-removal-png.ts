import { crc32, deflateSync } from 'node:zlib';

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

type Colour = readonly [number, number, number];

/** A PNG drawn from a function, eight bits a channel, without alpha. */
export function drawPng(width: number, height: number, colourAt: (x: number, y: number) => Colour): Buffer {
  // Each row begins with the number of its filter: none.
  const rows = Buffer.alloc(height * (1 + 3 * width));
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) rows.set(colourAt(x, y), y * (1 + 3 * width) + 1 + 3 * x);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A red disc on white. */
export function drawDisc(side: number): Buffer {
  return drawPng(side, side, (x, y) => (Math.hypot(x + 0.5 - side / 2, y + 0.5 - side / 2) < side / 3 ? [200, 40, 40] : [255, 255, 255]));
}

/** A grey strip whose height is the message. */
export function drawStrip(width: number, height: number): Buffer {
  return drawPng(width, height, () => [128, 128, 128]);
}
