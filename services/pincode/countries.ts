/**
 * Countries that the world provider has postal codes of, ISO 3166-1 alpha-2 (GF and YT and the like are codes of their own there). India
 * is always supported and has a provider of its own.
 */
export const WORLD_COUNTRIES: readonly string[] = (
  'AD AR AS AT AU BD BE BG BR CA CH CZ DE DK DO ES FI FO FR GB GF GG GL GP GT GU GY HR HU IM IN IS IT JE JP LI LK LT LU MC MD MH MK MP ' +
  'MQ MX MY NL NO NZ PH PK PL PM PR PT RE RU SE SI SJ SK SM TH TR US VA VI YT ZA'
).split(' ');
