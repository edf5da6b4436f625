import { z } from 'zod';
import { gstinCheckCharacter, isGstinShape } from './gstin';

/** Longer than any id ever issued. An unknown id is an expired session, not a malformed request. */
const sessionId = z.string().trim().min(1).max(200).describe('From the response to the first step.');
const captcha = z.string().trim().min(1).max(32).describe('The text in the image of the previous step.');
const number = z.string().trim().max(64).optional();

export const sessionInput = z.object({ sessionId });

const NAMES = ['GSTIN', 'gst', 'gstin'] as const;

/** The registration number has three names: `GSTIN` (JSON), `gst` (forms) and `gstin`. */
export const dataInput = z
  .object({
    sessionId,
    GSTIN: number.describe('The registration number, of 15 characters. Exactly one of GSTIN, gst and gstin is required.'),
    gst: number.describe('Another name for GSTIN, usual in forms.'),
    gstin: number.describe('Another name for GSTIN.'),
    captcha,
    strict: z.boolean().default(false).describe('Also refuses a number whose check character is wrong.'),
  })
  .refine((input) => NAMES.some((name) => (input[name] ?? '') !== ''), {
    path: ['GSTIN'],
    message: 'is required',
    // Also checked beside other complaints, so that a caller who sends nothing learns of all three fields at once.
    when: ({ issues }) => !issues.some(({ path: [field] = [] }) => NAMES.some((name) => name === field)),
  })
  .transform(({ sessionId: id, captcha: solution, strict, ...names }, context) => {
    const given = Object.entries(names).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '');
    const refuse = (field: string, message: string): never => {
      context.addIssue({ code: 'custom', path: [field], message });
      return z.NEVER;
    };
    const [first, ...others] = given.map(([field, value]) => ({ field, value: value.toUpperCase() }));
    if (!first) return z.NEVER;
    const different = others.find(({ value }) => value !== first.value);
    if (different) return refuse(different.field, `differs from ${first.field}: send the number once`);
    if (!isGstinShape(first.value)) return refuse(first.field, 'must be a GSTIN or UIN of 15 characters');
    if (strict && first.value.charAt(14) !== gstinCheckCharacter(first.value)) return refuse(first.field, 'has a wrong check character');
    return { sessionId: id, gstin: first.value, captcha: solution };
  });

export const captchaOutput = z.object({
  sessionId: z.string(),
  /** A data URI. */
  image: z.string(),
});

/** The upstream's payload, passed through. These members are usual, but none is promised. */
export const dataOutput = z.looseObject({
  gstin: z.string().optional(),
  /** Legal name. */
  lgnm: z.string().optional(),
  tradeNam: z.string().optional(),
  /** Status of the registration. */
  sts: z.string().optional(),
  dty: z.string().optional(),
  ctb: z.string().optional(),
  /** dd/mm/yyyy. */
  rgdt: z.string().optional(),
  cxdt: z.string().optional(),
  nba: z.array(z.string()).optional(),
});
