const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u200f\u061c]/u;

/**
 * A name for the title of an option, which has no markup: written from right to left, it would turn the words around it, so that Unicode's
 * isolates are put around it (U+2068 and U+2069). Any other stays as it is. Pages take no code of the API, whose mails do the same.
 */
export function isolateText(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}
