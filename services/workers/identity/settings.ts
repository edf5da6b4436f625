import { z } from 'zod';
import { numberSetting, redisSetting, urlSetting } from '../../../plugins/core/settings';
import { workerProcessFields } from '../../kit/config';

const LINK_SCHEMES = ['ws', 'wss', 'http', 'https'];
const MIN_HMAC_KEY_BYTES = 32;
/** A full sentence, so that nobody enables the portal out of habit. */
export const PORTAL_ACKNOWLEDGEMENT = 'we-have-the-right-to-use-the-portal';

const aadhaarSource = z.enum(['link', 'provider'], 'must be link or provider');
const gstSource = z.enum(['link', 'portal'], 'must be link or portal');
const word = z.string().regex(/^[\x21-\x7e]+$/, 'must be one word of ASCII');

/** Settings of the worker process, from its environment. */
export const identityWorkerSettings = z
  .object({
    ...workerProcessFields,
    SANDBOX_URL: urlSetting().optional(),
    REDIS_URL: redisSetting().optional(),
    /** WebSocket links of the live upstreams, and their bearer tokens. */
    GST_LINK_URL: urlSetting(LINK_SCHEMES).optional(),
    GST_LINK_TOKEN: z.string().optional(),
    AADHAAR_LINK_URL: urlSetting(LINK_SCHEMES).optional(),
    AADHAAR_LINK_TOKEN: z.string().optional(),
    /** A licensed OTP provider, its key, and the header for the key: a bearer token in `Authorization`, the bare key in any other. */
    AADHAAR_PROVIDER_URL: urlSetting()
      .refine((url) => url.startsWith('https:') || isLoopbackUrl(url), 'must start with https:// unless it is on this machine')
      .optional(),
    AADHAAR_PROVIDER_KEY: word.optional(),
    AADHAAR_PROVIDER_KEY_HEADER: z
      .string()
      .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a header')
      .default('Authorization'),
    /** The source for live keys, needed only when both are configured, and the source for test keys, in the sandbox. */
    AADHAAR_SOURCE: aadhaarSource.optional(),
    AADHAAR_TEST_SOURCE: aadhaarSource.default('link'),
    /** The tax portal. It is used only if the acknowledgement is set too. */
    GST_PORTAL_URL: urlSetting().optional(),
    GST_PORTAL_ACKNOWLEDGEMENT: z.literal(PORTAL_ACKNOWLEDGEMENT, `must be ${PORTAL_ACKNOWLEDGEMENT}`).optional(),
    GST_SOURCE: gstSource.optional(),
    GST_TEST_SOURCE: gstSource.default('link'),
    /** Base64 of 32 bytes or more, the same for all workers: the key of the HMAC by which the OTP throttle identifies numbers. */
    IDENTITY_HMAC_KEY: z
      .string()
      .transform((text) => Buffer.from(text, 'base64'))
      .refine((key) => key.length >= MIN_HMAC_KEY_BYTES, `must be base64 of ${MIN_HMAC_KEY_BYTES} bytes or more`)
      .optional(),
    /** OTPs for one number within the window, from all callers together. */
    AADHAAR_OTP_MOST: numberSetting({ min: 1, max: 1_000 }).default(5),
    AADHAAR_OTP_WINDOW_MS: numberSetting({ min: 1_000, max: 86_400_000 }).default(1_800_000),
    /** Maximum open sessions of each product: of all subscriptions, and of one. */
    IDENTITY_MOST_SESSIONS: numberSetting({ min: 1, max: 1_000_000 }).default(50_000),
    IDENTITY_MOST_SESSIONS_OF_ONE: numberSetting({ min: 1, max: 1_000_000 }).default(50),
    /** Milliseconds that the upstream has to reply to one message. */
    IDENTITY_MESSAGE_TIMEOUT_MS: numberSetting({ min: 50, max: 14_000 }).default(10_000),
    IDENTITY_CONNECT_TIMEOUT_MS: numberSetting({ min: 50, max: 14_000 }).default(5_000),
    IDENTITY_HEARTBEAT_MS: numberSetting({ min: 20, max: 300_000 }).default(15_000),
  })
  .superRefine((settings, context) => {
    const complain = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    requireSources(
      settings,
      { source: 'AADHAAR_SOURCE', choices: { link: ['AADHAAR_LINK_URL'], provider: ['AADHAAR_PROVIDER_URL', 'AADHAAR_PROVIDER_KEY'] } },
      complain,
    );
    requireSources(
      settings,
      { source: 'GST_SOURCE', choices: { link: ['GST_LINK_URL'], portal: ['GST_PORTAL_URL', 'GST_PORTAL_ACKNOWLEDGEMENT'] } },
      complain,
    );
  });

export type IdentityWorkerSettings = z.output<typeof identityWorkerSettings>;

/** Two ways to reach one product's live upstream, each by name with the settings that it needs. */
interface SourceChoice {
  /** The setting that chooses between them. */
  readonly source: string;
  readonly choices: Readonly<Record<string, readonly string[]>>;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * True when traffic to the URL cannot be seen on a network.
 * @param url a valid URL
 */
function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && LOOPBACK.test(new URL(url).hostname);
}

/**
 * Refuses an incomplete source, two sources without a choice, and a choice that is not configured.
 * @param complain takes the setting and what is wrong with it
 */
function requireSources(
  settings: Readonly<Record<string, unknown>>,
  { source, choices }: SourceChoice,
  complain: (setting: string, message: string) => void,
): void {
  const isSet = (name: string): boolean => settings[name] !== undefined;
  const chosen = settings[source];
  for (const [name, needed] of Object.entries(choices)) {
    const reason = chosen === name ? `${source} is ${name}` : needed.filter(isSet).map((each) => `${each} is set`)[0];
    if (reason === undefined) continue;
    for (const each of needed) if (!isSet(each)) complain(each, `is required when ${reason}`);
  }
  const given = Object.values(choices).flatMap(([first]) => (first !== undefined && isSet(first) ? [first] : []));
  if (chosen === undefined && given.length > 1) complain(source, `must say which is used: ${given.join(' and ')} are both set`);
}
