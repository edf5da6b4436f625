import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { CAPTCHA_ALPHABET } from './glyphs';

/** Length of a captcha. There are 21 characters to the fifth power: three guesses succeed once in 1.3 million sessions. */
const LENGTH = 5;

/** Draws the text of a captcha at random, from the system's generator. */
export function randomCaptchaText(): string {
  return Array.from({ length: LENGTH }, () => CAPTCHA_ALPHABET.charAt(randomInt(CAPTCHA_ALPHABET.length))).join('');
}

/** The captchas of test keys. The sandbox's link shows the same texts. */
const TEST_TEXTS = ['KX47M', 'TR23P', 'M7XK2', 'P4TRX', 'X2MK3', 'R3P7T', 'K4MT7', 'T2XPR'] as const;

/**
 * The test captcha, the same in every session, so that a script can solve it.
 * @param index number of earlier captchas, from 0
 */
export function testCaptchaText(index: number): string {
  return TEST_TEXTS[index % TEST_TEXTS.length] ?? TEST_TEXTS[0];
}

/** Ignores case, and gaps that people put between letters. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text.replace(/\s/g, '').toUpperCase()).digest();
}

/** Compares in constant time. */
export function isCaptchaSolved(text: string, solution: string): boolean {
  return timingSafeEqual(digestOf(text), digestOf(solution));
}
