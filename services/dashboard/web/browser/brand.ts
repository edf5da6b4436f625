const metaOf = (name: string): string | undefined => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content || undefined;

/** What the installation calls itself; the server writes it into the page's head. */
export const brandName = metaOf('application-name') ?? 'Tollgate';
/** `#rrggbb`; undefined for the colour of our own. */
export const brandColour = metaOf('theme-color');
/** Address of the sign beside the name. */
export const brandLogo = document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.getAttribute('href') ?? '/icon.svg';
