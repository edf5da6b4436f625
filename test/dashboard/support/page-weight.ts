import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Page, type Request } from 'playwright-core';
import { eventually } from '../../support/eventually';
import { PAGES } from './page-dashboard';

/** The first page that somebody opens may weigh so much. */
export const MAX_WEIGHT = { requests: 15, bytes: 250 * 1_024 } as const;

/** As it travels over https: files as they lie beside themselves, compressed. What has no such form is counted as it was sent. */
function travellingBytes(path: string, sent: number): number {
  const file = join(PAGES, path);
  const sizeOf = (each: string): number | undefined => statSync(each, { throwIfNoEntry: false })?.size;
  return path === '/' ? sent : (sizeOf(`${file}.br`) ?? sizeOf(file) ?? sent);
}

interface Weight {
  readonly requests: number;
  readonly bytes: number;
  /** Of them. */
  readonly scriptBytes: number;
}

/** Opens a page in a browser that has nothing of it. @returns what it asked for until its typeface was there and nothing more came */
export async function weigh(page: Page, open: () => Promise<unknown>): Promise<Weight> {
  const asked: { readonly path: string; readonly sizes: Promise<{ readonly responseBodySize: number }> }[] = [];
  const note = (request: Request): void => void asked.push({ path: new URL(request.url()).pathname, sizes: request.sizes() });
  page.on('requestfinished', note);
  await open();
  await page.waitForLoadState('networkidle');
  await eventually(() => asked.some(({ path }) => path.includes('.woff2')));
  page.off('requestfinished', note);
  const files = await Promise.all(
    asked.map(async ({ path, sizes }) => ({ path, bytes: travellingBytes(path, (await sizes).responseBodySize) })),
  );
  const bytesOf = (some: typeof files): number => some.reduce((sum, { bytes }) => sum + bytes, 0);
  return { requests: files.length, bytes: bytesOf(files), scriptBytes: bytesOf(files.filter(({ path }) => path.endsWith('.js'))) };
}
