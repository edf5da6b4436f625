import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Page } from 'playwright-core';
import { eventually } from '../../support/eventually';
import { PAGES } from './page-dashboard';

/** The first page that somebody opens may weigh so much. */
export const MOST_WEIGHT = { requests: 15, bytes: 250 * 1_024 } as const;

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
  const asked: { readonly path: string; readonly sent: number }[] = [];
  page.on('requestfinished', (request) => {
    const { pathname: path } = new URL(request.url());
    void request.sizes().then(({ responseBodySize: sent }) => asked.push({ path, sent }));
  });
  await open();
  await page.waitForLoadState('networkidle');
  await eventually(() => asked.some(({ path }) => path.includes('.woff2')));
  const bytesOf = (files: typeof asked): number => files.reduce((sum, { path, sent }) => sum + travellingBytes(path, sent), 0);
  return { requests: asked.length, bytes: bytesOf(asked), scriptBytes: bytesOf(asked.filter(({ path }) => path.endsWith('.js'))) };
}
