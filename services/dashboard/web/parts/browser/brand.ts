const metaOf = (name: string): string | undefined => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content || undefined;

/** The installation's name, which the server writes into the page's head. */
export const brandName = metaOf('application-name') ?? 'Tollgate';
/** Address of the logo beside the name. */
export const brandLogo = document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.getAttribute('href') ?? '/icon.svg';
/** Address of the logo for dark pages. */
export const darkBrandLogo = metaOf('dark-logo') ?? brandLogo;
/** The seller's address for questions; undefined when the brand has none. */
export const supportAddress = metaOf('support');
