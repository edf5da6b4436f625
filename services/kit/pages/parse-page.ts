import { Parser } from 'htmlparser2';
import { parseUrl } from './page-url';

export interface PageLink {
  /** Absolute, http or https. */
  readonly url: URL;
  /** Text, or the alternative text of images, with single spaces. */
  readonly anchor: string;
  /** Lower case. */
  readonly rel: readonly string[];
  /** True for a link in the content: not in head, nav, header, footer or aside. */
  readonly inBody: boolean;
  /** The page's own code hides it (`hidden`, or an inline style). Style sheets are not considered. */
  readonly isHidden: boolean;
}

export interface ParsedPage {
  readonly title: string;
  readonly description: string | null;
  /** The content of all robots meta elements, joined with a comma; null without one. */
  readonly metaRobots: string | null;
  readonly canonical: string | null;
  readonly headings: number;
  readonly words: number;
  readonly hasIcon: boolean;
  /** True if the page has a mailto: or tel: link, or a form. */
  readonly hasContact: boolean;
  readonly links: readonly PageLink[];
  /** The text that a reader sees, without a bound. `words` also counts text that the page's code hides. */
  readonly text: string;
  /** Targets of `mailto:` links that a reader sees, as written, without the scheme. */
  readonly mailTargets: readonly string[];
}

/** Links kept of one page. More links do not make a page better. */
const MAX_LINKS = 2_000;
/** Characters kept of one text. Pages belong to others, and responses must stay small. */
const MAX_TEXT = 500;
const MAX_URL = 2_048;
/** Elements that may be open at a time. Chromium's parser stops nesting at the same number. Every end tag may look through all of them. */
const MAX_DEPTH = 512;
/** Our choice: with at most 2 MiB fetched, it leaves 20 bytes an element, tags and text together. */
const MAX_ELEMENTS = 100_000;
const INERT = new Set(['script', 'style', 'template', 'noscript', 'head']);
const AROUND = new Set(['head', 'nav', 'header', 'footer', 'aside']);
const INLINE = new Set(['a', 'abbr', 'b', 'code', 'em', 'i', 'mark', 'small', 'span', 'strong', 'sub', 'sup', 'u']);
const HIDING_STYLE =
  /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])|(text-indent|left|top)\s*:\s*-\d{4,}/i;
const MAIL_SCHEME = /^\s*mailto:(.*)$/is;
const CONTACT_SCHEME = /^\s*(mailto|tel):/i;

interface Frame {
  readonly name: string;
  readonly isInert: boolean;
  readonly isAround: boolean;
  readonly isHidden: boolean;
}

interface OpenLink {
  readonly href: string;
  readonly rel: readonly string[];
  readonly inBody: boolean;
  readonly isHidden: boolean;
  text: string;
}

/** Markup that is made to be slow. No reader would ever see what it shows. */
export class PageTooComplex extends Error {
  override readonly name = 'PageTooComplex';
}

const ROOT: Frame = { name: '', isInert: false, isAround: false, isHidden: false };

function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_TEXT);
}

function tokens(text: string | undefined): string[] {
  return (text ?? '').toLowerCase().split(/\s+/).filter(Boolean);
}

/** Collects what {@link ParsedPage} holds while the parser walks. */
class PageCollector {
  private readonly frames: Frame[] = [];
  private readonly pieces: string[] = [];
  private readonly visible: string[] = [];
  private readonly mailTargets: string[] = [];
  private readonly robots: string[] = [];
  private readonly found: OpenLink[] = [];
  private link: OpenLink | undefined;
  private title = '';
  /** The first title element; images have titles too. */
  private titleFrame: Frame | undefined;
  private description: string | null = null;
  private canonical: string | undefined;
  private base: string | undefined;
  private elements = 0;
  private headings = 0;
  private hasIcon = false;
  private hasContact = false;

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.elements++;
    if (this.elements > MAX_ELEMENTS || this.frames.length >= MAX_DEPTH) throw new PageTooComplex();
    const parent = this.frames.at(-1) ?? ROOT;
    const frame: Frame = {
      name,
      isInert: parent.isInert || INERT.has(name),
      isAround: parent.isAround || AROUND.has(name),
      isHidden: parent.isHidden || attributes['hidden'] !== undefined || HIDING_STYLE.test(attributes['style'] ?? ''),
    };
    this.frames.push(frame);
    this.separate(name);
    this.readElement(name, attributes, frame);
  }

  text(text: string): void {
    const frame = this.frames.at(-1) ?? ROOT;
    if (frame === this.titleFrame) this.title += text;
    if (frame.isInert) return;
    this.pieces.push(text);
    if (!frame.isHidden) this.visible.push(text);
    if (this.link) this.link.text += text;
  }

  close(name: string): void {
    this.frames.pop();
    this.separate(name);
    if (name === 'a') this.closeLink();
  }

  finish(pageUrl: string): ParsedPage {
    const base = parseUrl(this.base ?? '', pageUrl) ?? new URL(pageUrl);
    return {
      title: collapse(this.title),
      description: this.description,
      metaRobots: this.robots.length === 0 ? null : collapse(this.robots.join(', ')),
      canonical: this.canonical === undefined ? null : (parseUrl(this.canonical.slice(0, MAX_URL), base)?.href ?? null),
      headings: this.headings,
      words: this.pieces.join('').match(/\S+/g)?.length ?? 0,
      hasIcon: this.hasIcon,
      hasContact: this.hasContact,
      text: this.visible.join(''),
      mailTargets: this.mailTargets,
      links: this.found.flatMap(({ href, text, ...rest }) => {
        const url = parseUrl(href, base);
        return url?.protocol === 'http:' || url?.protocol === 'https:' ? [{ ...rest, url, anchor: collapse(text) }] : [];
      }),
    };
  }

  /** Text of two blocks, or of two links, is two words. Searches for email addresses depend on that. */
  private separate(name: string): void {
    const isInline = INLINE.has(name);
    if (!isInline) this.pieces.push(' ');
    if (!isInline || name === 'a') this.visible.push(' ');
  }

  private readElement(name: string, attributes: Readonly<Record<string, string>>, frame: Frame): void {
    switch (name) {
      case 'a':
        this.openLink(attributes, frame);
        break;
      case 'img':
        if (this.link && !frame.isInert) this.link.text += ` ${attributes['alt'] ?? ''} `;
        break;
      case 'title':
        this.titleFrame ??= frame;
        break;
      case 'base':
        this.base ??= attributes['href']?.slice(0, MAX_URL);
        break;
      case 'meta':
        this.readMeta(attributes);
        break;
      case 'link':
        this.readLinkElement(attributes);
        break;
      case 'form':
        this.hasContact ||= /contact|mailto:/i.test(`${attributes['action'] ?? ''} ${attributes['id'] ?? ''} ${attributes['class'] ?? ''}`);
        break;
      case 'h1':
        this.headings++;
        break;
      default:
    }
  }

  private openLink(attributes: Readonly<Record<string, string>>, frame: Frame): void {
    const { href } = attributes;
    if (href === undefined || href.length > MAX_URL || frame.isInert) return;
    if (CONTACT_SCHEME.test(href)) this.hasContact = true;
    if (!frame.isHidden) this.readMailLink(href);
    // A link inside a link ends the first, as in browsers.
    this.closeLink();
    this.link = { href, rel: tokens(attributes['rel']?.slice(0, MAX_TEXT)), inBody: !frame.isAround, isHidden: frame.isHidden, text: '' };
  }

  private readMailLink(href: string): void {
    const target = MAIL_SCHEME.exec(href)?.[1];
    if (target !== undefined && this.mailTargets.length < MAX_LINKS) this.mailTargets.push(target);
  }

  private closeLink(): void {
    if (this.link && this.found.length < MAX_LINKS) this.found.push(this.link);
    this.link = undefined;
  }

  private readMeta({ name = '', content = '' }: Readonly<Record<string, string>>): void {
    const lower = name.toLowerCase();
    if (lower === 'robots') this.robots.push(collapse(content));
    if (lower === 'description') this.description ??= collapse(content);
  }

  private readLinkElement({ rel, href }: Readonly<Record<string, string>>): void {
    const kinds = tokens(rel);
    if (kinds.includes('canonical')) this.canonical ??= href;
    if (kinds.some((kind) => kind === 'icon' || kind === 'apple-touch-icon')) this.hasIcon = true;
  }
}

/**
 * Parses a page as a browser without scripts would. HTML has no errors. Only excess is refused, so that the time grows with the length
 * alone.
 * @throws PageTooComplex over 512 open or 100,000 elements
 * @param pageUrl absolute; relative links are resolved against it, or against the page's `base`
 */
export function parsePage(html: string, pageUrl: string): ParsedPage {
  const collector = new PageCollector();
  const parser = new Parser({
    onopentag: (name, attributes) => collector.open(name, attributes),
    ontext: (text) => collector.text(text),
    onclosetag: (name) => collector.close(name),
  });
  parser.end(html);
  return collector.finish(pageUrl);
}
