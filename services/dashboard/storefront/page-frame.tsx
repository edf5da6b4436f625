import { type ReactNode } from 'react';
import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { type Brand, PLAIN_BRAND } from '../brand/brand';
import { type DocPages } from './doc-pages';
import { type LiveSources } from '../http/dashboard-deps';

/** What every public page is rendered with. */
export interface PageTools {
  readonly brand: Brand;
  readonly pages: DocPages;
  /** Origin of the dashboard. */
  readonly url: string;
  /** Base URL of the gateway, without a slash at the end. */
  readonly gatewayUrl: string;
  /** Whether the reader has a session, according to a cookie. */
  readonly isSignedIn: boolean;
  /** Whether readers without an account can try calls here. */
  readonly canTry: boolean;
  /** Whether mail about outages is sent. */
  readonly canMail: boolean;
  /** Undefined: not asked. */
  readonly liveSources: LiveSources | undefined;
}

interface PageFrameProps {
  readonly tools: PageTools;
  readonly title: string;
  /** One sentence for search results. */
  readonly description: string;
  /** The page's own path, which is also where signing up leads back to. */
  readonly path: string;
  /** Products whose prices the page also tells search engines. */
  readonly products?: readonly CatalogueProduct[];
  /** Address of the same content for feed readers. */
  readonly feed?: string;
  readonly children: ReactNode;
}

/** Pages that search engines leave out. */
const UNLISTED = /^\/(?:search$|explain|status-mail)/;

const NAVIGATION = [
  ['/products', 'Products'],
  ['/pricing', 'Pricing'],
  ['/docs', 'Docs'],
  ['/reference', 'Reference'],
] as const;

/** The seller's pages that every footer leads to. */
function SellersLinks({ brand: { name, words } }: { readonly brand: Brand }): ReactNode {
  if (!words) return null;
  const { terms, privacy, imprint } = words.links;
  const links = { Terms: terms, Privacy: privacy, Imprint: imprint };
  return (
    <>
      {Object.entries(links).map(
        ([text, to]) =>
          to !== undefined && (
            <a key={text} href={to}>
              {text}
            </a>
          ),
      )}
      {words.support !== undefined && <a href={`mailto:${words.support}`}>Support</a>}
      {words.powered_by && name !== PLAIN_BRAND.name && <span className="quiet">Powered by Tollgate</span>}
    </>
  );
}

/** The picture beside the name, and the one for dark pages if the seller has one. */
function BrandLogo({ brand }: { readonly brand: Brand }): ReactNode {
  const logo = <img src={brand.logo ? '/brand/logo' : '/icon.svg'} height={26} alt="" />;
  if (!brand.darkLogo) return logo;
  return (
    <picture>
      <source srcSet="/brand/logo-dark" media="(prefers-color-scheme: dark)" />
      {logo}
    </picture>
  );
}

/** The sign-up page, which leads back to a page afterwards. */
export function signUpPath(then: string): string {
  return then === '/' ? '/sign-up' : `/sign-up?then=${encodeURIComponent(then)}`;
}

function Entrance({ tools, path }: Pick<PageFrameProps, 'tools' | 'path'>): ReactNode {
  if (tools.isSignedIn) {
    return (
      <a className="button" href="/">
        Your overview
      </a>
    );
  }
  return (
    <>
      <a href={path === '/' ? '/sign-in' : `/sign-in?then=${encodeURIComponent(path)}`}>Sign in</a>
      <a className="button" href={signUpPath(path)}>
        Sign up
      </a>
    </>
  );
}

/** Products with the price of each plan for search engines (schema.org). It is data, which no browser runs. */
function StructuredPrices({ products, url }: { readonly products: readonly CatalogueProduct[]; readonly url: string }): ReactNode {
  const priced = products
    .filter(({ plans }) => plans.length > 0)
    .map(({ id, title, description, plans }) => ({
      '@type': 'Product',
      name: title,
      description,
      url: `${url}/products/${id}`,
      offers: plans.map(({ name, price, currency }) => ({ '@type': 'Offer', name, price, priceCurrency: currency })),
    }));
  const text = JSON.stringify({ '@context': 'https://schema.org', '@graph': priced }).replaceAll('<', '\\u003c');
  return <script type="application/ld+json" dangerouslySetInnerHTML={{ __html: text }} />;
}

/** The document around a public page, all of which can be read without a script. */
export function PageFrame({ tools, title, description, path, products, feed, children }: PageFrameProps): ReactNode {
  const { brand, url } = tools;
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{path === '/' ? title : `${title} · ${brand.name}`}</title>
        <meta name="description" content={description} />
        <link rel="canonical" href={url + path} />
        {UNLISTED.test(path) && <meta name="robots" content="noindex" />}
        <meta property="og:type" content="website" />
        <meta name="twitter:card" content="summary" />
        <meta property="og:title" content={title} />
        <meta property="og:description" content={description} />
        <meta property="og:site_name" content={brand.name} />
        <meta property="og:url" content={url + path} />
        <link rel="icon" href={brand.logo ? '/brand/logo' : '/icon.svg'} />
        <link rel="stylesheet" href="/public.css" />
        {brand.colour !== PLAIN_BRAND.colour && <link rel="stylesheet" href="/brand.css" />}
        <script type="module" src="/public-page.js" />
        {feed !== undefined && <link rel="alternate" type="application/atom+xml" href={feed} title={title} />}
        {products && <StructuredPrices products={products} url={url} />}
      </head>
      <body>
        <a className="skip" href="#content">
          Skip to content
        </a>
        <header className="top">
          <a className="brand" href={tools.isSignedIn ? '/products' : '/'}>
            <BrandLogo brand={brand} />
            <span>{brand.name}</span>
          </a>
          <nav aria-label="Pages">
            {NAVIGATION.map(([to, text]) => (
              <a key={to} href={to} aria-current={path === to || path.startsWith(`${to}/`) ? 'page' : undefined}>
                {text}
              </a>
            ))}
          </nav>
          <div className="entrance">
            <Entrance tools={tools} path={path} />
          </div>
        </header>
        <main id="content" tabIndex={-1}>
          {children}
        </main>
        <footer>
          <a href="/openapi.json">OpenAPI document</a>
          <a href="/llms.txt">llms.txt</a>
          {tools.pages.changelog && <a href="/changelog">Changelog</a>}
          <a href={brand.words?.links.status ?? '/status'}>Status</a>
          <SellersLinks brand={brand} />
        </footer>
      </body>
    </html>
  );
}
