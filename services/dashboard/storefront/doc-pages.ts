import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readTextFile } from '../../kit/read-text-file';
import { plainText } from './markdown';

/** A page of text for callers. */
export interface DocPage {
  /** The part of its address after `/docs/`. */
  readonly slug: string;
  readonly title: string;
  /** Its first paragraph as plain text. */
  readonly summary: string;
  readonly text: string;
}

/** The text of the seller's folder: pages that add to ours or replace them, and the changelog. */
export interface DocPages {
  readonly docs: readonly DocPage[];
  readonly changelog: { readonly text: string; readonly changedAt: Date } | undefined;
}

/** Ours, for every seller. */
const GUIDES = join(__dirname, 'guides');
const MAX_PAGES = 200;
const MAX_BYTES = 262_144;
/** `first-call.md`; a number before the name orders the pages and is not part of their address. */
const FILE = /^(?:\d+-)?([a-z0-9][a-z0-9-]*)\.md$/;

/** Replaces `{{gateway}}` and the like by this installation's own words. Unknown words stay. */
export function fillIn(text: string, words: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (mark, word: string) => words[word] ?? mark);
}

/** The pages with the installation's words filled in, except `{{call}}`, which depends on the catalogue. */
export function fillPages({ docs, changelog }: DocPages, words: Readonly<Record<'gateway' | 'dashboard' | 'name', string>>): DocPages {
  const fill = (text: string): string => fillIn(text, words);
  return {
    docs: docs.map(({ slug, title, summary, text }) => ({ slug, title: fill(title), summary: fill(summary), text: fill(text) })),
    changelog: changelog && { ...changelog, text: fill(changelog.text) },
  };
}

/** @throws Error naming the file */
function readPage(file: string): string {
  const text = readTextFile(file, MAX_BYTES);
  if (text === undefined) throw new Error(`${file} has more than ${MAX_BYTES} bytes`);
  return text;
}

function toPage(slug: string, text: string): DocPage {
  const title = /^#\s+(.+)$/m.exec(text)?.[1] ?? slug.replaceAll('-', ' ');
  const summary = text.split(/\n\s*\n/).find((block) => /^[^#`|>\s-]/.test(block)) ?? '';
  return { slug, title: plainText(title), summary: plainText(summary).replace(/:$/, '.'), text };
}

function readFolder(folder: string): DocPage[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .sort();
  if (names.length > MAX_PAGES) throw new Error(`${folder} has more than ${MAX_PAGES} pages`);
  return names.map((name) => {
    const slug = FILE.exec(name)?.[1];
    if (slug === undefined) throw new Error(`${join(folder, name)}: the name of a page has small letters, digits and hyphens only`);
    return toPage(slug, readPage(join(folder, name)));
  });
}

/**
 * Reads the pages once, at the start. A seller's page replaces our page of the same name; an empty one removes it.
 * @param folder the one that TOLLGATE_CONFIG names; undefined: ours alone
 * @throws Error naming the file that cannot be used
 */
export function readDocPages(folder: string | undefined): DocPages {
  const own = folder === undefined ? [] : readFolder(join(folder, 'docs'));
  const names = new Set(own.map(({ slug }) => slug));
  const docs = [...readFolder(GUIDES).filter(({ slug }) => !names.has(slug)), ...own].filter(({ text }) => text.trim() !== '');
  const file = join(folder ?? GUIDES, 'changelog.md');
  return {
    docs,
    changelog: folder !== undefined && existsSync(file) ? { text: readPage(file), changedAt: statSync(file).mtime } : undefined,
  };
}
