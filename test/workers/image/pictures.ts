import sharp from 'sharp';

/** A red disc on white, as PNG, JPEG or WebP. */
export async function disc(type: 'png' | 'jpeg' | 'webp' = 'png', side = 96): Promise<Buffer> {
  const svg = `<svg width="${side}" height="${side}"><rect width="100%" height="100%" fill="#fff"/><circle cx="50%" cy="50%" r="30%" fill="#c82828"/></svg>`;
  return sharp(Buffer.from(svg)).removeAlpha().toFormat(type).toBuffer();
}

/** One colour everywhere: nothing to cut out. */
export function plain(width: number, height: number): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: '#808080' } })
    .png()
    .toBuffer();
}
