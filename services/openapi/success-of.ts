/** JSON, or a type based on it such as `application/hal+json`. */
export const isJsonType = (type: string): boolean => /^[\w.-]+\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type);

/** The status of a success: the lowest from 200 to 299, or their range, or the document's `default`. */
export function successStatus(responses: object): string | undefined {
  return Object.keys(responses)
    .filter((status) => /^2(?:\d\d|XX)$/i.test(status) || status === 'default')
    .sort()[0];
}
