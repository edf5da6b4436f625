import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Log } from '../../kit/log';
import { type Brand, type BrandSettings, logoFiles, PLAIN_BRAND, readBrand, sellerFolder } from '../brand/brand';
import { type DocPages, fillPages, readDocPages } from './doc-pages';

/** The brand and the texts. Both may change at any time, so read them where they are used. */
export interface SellersFolder {
  readonly brand: Brand;
  readonly pages: DocPages;
  /** Changes with each change of the folder. */
  readonly revision: string;
}

/** Our own brand and texts only. */
export const plainFolder = (): SellersFolder => ({ brand: PLAIN_BRAND, pages: readDocPages(undefined), revision: '' });

/** The folder with the installation's words filled in, except `{{call}}`, which depends on the catalogue. */
export function withWords(folder: SellersFolder, words: Readonly<Record<'gateway' | 'dashboard', string>>): SellersFolder {
  let filled: { readonly revision: string; readonly pages: DocPages } | undefined;
  return {
    get brand() {
      return folder.brand;
    },
    get revision() {
      return folder.revision;
    },
    get pages() {
      const { pages, revision, brand } = folder;
      if (filled?.revision !== revision) filled = { revision, pages: fillPages(pages, { ...words, name: brand.name }) };
      return filled.pages;
    },
  };
}

/** A seller who saves a file looks at the page next. A look costs a few file system calls. */
const LOOK_MS = 2_000;

function stateOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${file} ${mtimeMs} ${size} ${ino}`;
  } catch {
    return file;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

export interface WatchedFolderOptions {
  readonly settings: BrandSettings;
  readonly log: Log;
  /** Pause between two looks. Default 2 s. */
  readonly lookMs?: number;
}

/**
 * Reads the brand, the guides and the changelog, and again after each change of a file. Mistakes are logged, and what was read before
 * stays: a mistake in a guide must not keep customers from their keys.
 */
export class WatchedFolder implements SellersFolder {
  brand: Brand = PLAIN_BRAND;
  pages: DocPages = readDocPages(undefined);
  revision = '0';
  private seen: string | undefined;
  /** The logged mistakes. */
  private problems = '';
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly options: WatchedFolderOptions) {
    this.look();
    this.timer = setInterval(() => this.look(), options.lookMs ?? LOOK_MS).unref();
  }

  /** Reads what changed. Never fails. */
  look(): void {
    const { settings, log } = this.options;
    const folder = sellerFolder(settings);
    const docs = join(folder, 'docs');
    const files = [join(folder, 'brand.yml'), join(folder, 'changelog.md'), ...namesIn(docs).map((name) => join(docs, name))];
    const seen = [...files, ...logoFiles(settings)].map(stateOf).join('\n');
    // With a mistake, read again: the file that it names may appear anywhere.
    if (seen === this.seen && this.problems === '') return;
    const problems: string[] = [];
    const usable = <T>(earlier: T, read: () => T): T => {
      try {
        return read();
      } catch (error) {
        problems.push(error instanceof Error ? error.message : String(error));
        return earlier;
      }
    };
    this.brand = usable(this.brand, () => readBrand(settings));
    this.pages = usable(this.pages, () => readDocPages(folder));
    const said = problems.join('\n');
    if (said !== this.problems) {
      for (const problem of problems) log.error({ problem }, 'the seller’s brand or guides cannot be used; what was read before stays');
    }
    if (seen !== this.seen || said !== this.problems) this.revision = String(Number(this.revision) + 1);
    this.seen = seen;
    this.problems = said;
  }

  close(): void {
    clearInterval(this.timer);
  }
}
