const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u200f\u061c]/u;

/**
 * A name for the middle of a sentence that has no markup, as in a mail or the title of an option: written from right to left, it would
 * turn the words around it, so that Unicode's isolates are put around it (U+2068 and U+2069). Any other stays as it is.
 */
export function isolateText(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}
