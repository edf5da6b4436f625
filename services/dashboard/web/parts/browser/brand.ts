const metaOf = (name: string): string | undefined => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content || undefined;

/** What the installation calls itself; the server writes it into the page's head. */
export const brandName = metaOf('application-name') ?? 'Tollgate';
/** Address of the sign beside the name. */
export const brandLogo = document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.getAttribute('href') ?? '/icon.svg';
/** The same for dark pages. */
export const darkBrandLogo = metaOf('dark-logo') ?? brandLogo;
/** The seller's address for questions; undefined where the brand has none. */
export const supportAddress = metaOf('support');
