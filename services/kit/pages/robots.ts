import robotsParser from 'robots-parser';
import { type GuardedResponse } from '../upstream/guarded-fetch';
import { ROBOTS_TOKEN } from './page-port';

/** Characters of a robots.txt that are read; RFC 9309 asks for 500 KiB at least. */
const MOST_CHARACTERS = 512_000;

/** Says whether we may fetch a URL of the origin that the rules are from. */
export type RobotsRules = (url: string) => boolean;

/**
 * The rules of an answer to `/robots.txt` (RFC 9309): none for a 4xx, everything is forbidden while the server fails.
 * @param url of the robots.txt
 */
export function readRobots(url: string, { status, bytes }: Pick<GuardedResponse, 'status' | 'bytes'>): RobotsRules {
  if (status === 429 || status >= 500) return () => false;
  if (status < 200 || status > 299) return () => true;
  const rules = robotsParser(url, bytes.toString('utf8').slice(0, MOST_CHARACTERS));
  return (page) => rules.isAllowed(page, ROBOTS_TOKEN) !== false;
}
