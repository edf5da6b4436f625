import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/**
 * A PNG drawn from a function, eight bits a channel, without alpha.
 * @param colourAt red, green and blue, or a grey
 * @param level of the compression
 */
export function drawPng(
  { width, height, level }: { readonly width: number; readonly height: number; readonly level?: number },
  colourAt: (x: number, y: number) => readonly [number] | readonly [number, number, number],
): Buffer {
  const channels = colourAt(0, 0).length;
  // Each row begins with the number of its filter: none.
  const rowBytes = 1 + channels * width;
  const rows = Buffer.alloc(height * rowBytes);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) rows.set(colourAt(x, y), y * rowBytes + 1 + channels * x);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, channels === 1 ? 0 : 2], 8);
  const data = deflateSync(rows, level === undefined ? {} : { level });
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}
