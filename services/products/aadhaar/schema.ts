import { z } from 'zod';
import { instantWords } from '../../kit/timestamp';
import { isAadhaarNumber } from './aadhaar-number';

/** Longer than any id ever issued. An unknown id is an expired session, not a malformed request. */
const sessionId = z.string().trim().min(1).max(200).describe('From the response to the first step.');

export const startInput = z.object({
  aadhaar: z
    .string()
    .trim()
    .refine(isAadhaarNumber, 'must be a valid Aadhaar number of 12 digits')
    .describe('The Aadhaar number: 12 digits with a correct check digit.'),
});

export const captchaInput = z.object({
  sessionId,
  captcha: z.string().trim().min(1).max(32).describe('The text in the image of the previous step.'),
});

export const otpInput = z.object({
  sessionId,
  otp: z
    .string()
    .trim()
    .regex(/^\d{4,8}$/, 'must be 4 to 8 digits')
    .describe('The one-time password that the holder received.'),
});

export const captchaStep = z.object({
  status: z.literal('captcha'),
  message: z.string(),
  sessionId: z.string(),
  captcha_base64: z.string(),
});

const otpStep = z.object({ status: z.literal('otp'), message: z.string(), sessionId: z.string() });

export const captchaOutput = z.union([otpStep, captchaStep]);

export const otpOutput = z.object({
  status: z.literal('success'),
  message: z.string(),
  sessionId: z.string(),
  data: z.object({
    name: z.string(),
    date_of_birth: z.string().nullable(),
    gender: z.string().nullable(),
    care_of: z.string().nullable(),
    address: z.record(z.string(), z.string()),
    photo_base64: z.string().nullable(),
    /** `XXXXXXXX` and the last four digits. */
    masked_aadhaar: z.string(),
    reference_id: z.string().nullable(),
    verified_at: z.string().describe(instantWords('Time of the verification')),
  }),
});
