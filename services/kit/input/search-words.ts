import { z } from 'zod';

/** Text for an upstream: trimmed, not empty, without control characters and broken surrogates. */
export function wordsField(most: number): z.ZodType<string, string> {
  return z
    .string()
    .trim()
    .min(1)
    .max(most)
    .refine((value) => !/[\p{Cc}\p{Cs}]/u.test(value), 'must not contain control characters');
}

export const countryCodeField = z
  .string()
  .trim()
  .regex(/^[A-Za-z]{2}$/, 'must be a two-letter country code');

export const languageCodeField = z
  .string()
  .trim()
  .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/, 'must be a language code such as en or en-IN');
