import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file beside this module in dist/, written by the build. */
export const DOCUMENT_FILE = 'document.json';

/** Placeholder in the written document for the gateway's base URL, which only an installation knows. */
export const ANY_GATEWAY = 'https://gateway.invalid';

/**
 * The OpenAPI document as JSON text.
 * @param gatewayUrl base URL of the gateway as callers reach it, without a trailing slash
 * @throws Error when the build did not write it
 */
export function readDocument(gatewayUrl: string): string {
  return readFileSync(join(__dirname, DOCUMENT_FILE), 'utf8').replaceAll(ANY_GATEWAY, gatewayUrl);
}
