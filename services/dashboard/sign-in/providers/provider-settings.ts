import { z } from 'zod';

/** A provider by which people may sign in beside their passwords, as the platform engineer configured it. */
export interface SignInProvider {
  /** Part of the address to which the provider leads back. */
  readonly id: string;
  /** Name on buttons. */
  readonly name: string;
  /** GitHub supports only OAuth: it signs nothing, and its API says who the person is. */
  readonly kind: 'oidc' | 'github';
  /** For OpenID Connect the issuer as the provider spells it; for GitHub the base of its pages. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Buttons on one page. */
const MAX_PROVIDERS = 8;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Values that need no configuration for these providers. */
const KNOWN: Readonly<Record<string, Pick<SignInProvider, 'name' | 'issuer' | 'kind'>>> = {
  google: { name: 'Google', issuer: 'https://accounts.google.com', kind: 'oidc' },
  github: { name: 'GitHub', issuer: 'https://github.com', kind: 'github' },
};

/** True when requests to the URL stay secret: `http` only on this machine. */
export function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname));
  return isSafe && username === '' && password === '';
}

const entry = z.strictObject({
  // `credential` is what better-auth calls the password.
  id: z.string().regex(/^(?!credential$)[a-z][a-z0-9-]{0,30}$/, 'must be small letters, digits and hyphens'),
  name: z.string().trim().min(1).max(40).optional(),
  issuer: z.string().refine(isSafeUrl, 'must be a URL that starts with https://').optional(),
  clientId: z.string().min(1).max(500),
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON in a variable. Its mistakes are described without its text. */
function jsonSetting<Shape extends z.ZodType>(shape: Shape, example: string): z.ZodType<z.output<Shape> | undefined> {
  return z
    .string()
    .transform((text, context): z.output<Shape> => {
      const parsed = shape.safeParse(parseJson(text));
      if (parsed.success) return parsed.data;
      const [issue] = parsed.error.issues;
      const place = issue?.path.join('.') ?? '';
      context.addIssue({ code: 'custom', message: `must be JSON such as ${example}${place === '' ? '' : `: ${place} ${issue?.message}`}` });
      return z.NEVER;
    })
    .optional();
}

export const providerSettings = z.object({
  /** Providers by which people may sign in beside their passwords. */
  DASHBOARD_SIGN_IN: jsonSetting(z.array(entry).max(MAX_PROVIDERS), '[{"id":"google","clientId":"…"}]'),
  /** The secret of each, by its id. */
  DASHBOARD_SIGN_IN_SECRETS: jsonSetting(z.record(z.string(), z.string().min(1)), '{"google":"…"}'),
});

type ProviderSettings = z.output<typeof providerSettings>;

/** Mistakes in the two settings together, each with its variable. */
export function findProviderProblems({ DASHBOARD_SIGN_IN: given = [], DASHBOARD_SIGN_IN_SECRETS: secrets = {} }: ProviderSettings): {
  readonly name: keyof ProviderSettings;
  readonly message: string;
}[] {
  const ids = given.map(({ id }) => id);
  return [
    ...given
      .filter(({ id, name, issuer }) => !(id in KNOWN) && (name === undefined || issuer === undefined))
      .map(({ id }) => ({ name: 'DASHBOARD_SIGN_IN' as const, message: `${id} needs a name and an issuer` })),
    ...ids
      .filter((id, index) => ids.indexOf(id) !== index)
      .map((id) => ({ name: 'DASHBOARD_SIGN_IN' as const, message: `has ${id} twice` })),
    ...ids
      .filter((id) => secrets[id] === undefined)
      .map((id) => ({ name: 'DASHBOARD_SIGN_IN_SECRETS' as const, message: `has no secret for ${id}` })),
  ];
}

/** @param settings without problems */
export function readProviders({
  DASHBOARD_SIGN_IN: given = [],
  DASHBOARD_SIGN_IN_SECRETS: secrets = {},
}: ProviderSettings): SignInProvider[] {
  return given.map(({ id, clientId, name, issuer }) => {
    const known = KNOWN[id];
    return {
      id,
      clientId,
      kind: known?.kind ?? 'oidc',
      name: name ?? known?.name ?? id,
      issuer: (issuer ?? known?.issuer ?? '').replace(/\/+$/, known?.kind === 'github' ? '' : '$&'),
      clientSecret: secrets[id] ?? '',
    };
  });
}
