import { z } from 'zod';
import { passwordProof } from './account';
import { id, moment } from './fields';

/** By whom people may sign in beside their passwords. */
export const provider = z.object({ id: z.string(), name: z.string() });
export type Provider = z.output<typeof provider>;

/** Of an account. */
export const passkey = z.object({
  id,
  /** As its owner calls it. */
  name: z.string(),
  createdAt: moment,
  /** Null: nobody has signed in with it yet. */
  lastUsedAt: moment.nullable(),
});
export type Passkey = z.output<typeof passkey>;

/** How the own account opens. */
export const ways = z.object({
  hasPassword: z.boolean(),
  connected: z.array(z.object({ id, name: z.string(), since: moment })),
  passkeys: z.array(passkey),
  /** Not connected yet. */
  offered: z.array(provider),
});
export type Ways = z.output<typeof ways>;

export const wayParams = z.object({ id });
export const disconnectBody = passwordProof;
export const removePasskeyBody = passwordProof;
export const connectBody = passwordProof.extend({ provider: z.string().max(40) });

/** What a device sends, as browsers write it: base64url. An attestation with certificates, which nobody asks for, takes a few kilobytes. */
const bytes = z
  .string()
  .max(20_000)
  .regex(/^[\w-]*={0,2}$/, 'must be base64url');
const credential = z.object({
  id: bytes,
  rawId: bytes,
  type: z.literal('public-key'),
  authenticatorAttachment: z.string().max(40).optional(),
});
/** What follows of a credential's extensions: none is asked for. */
const noExtensions = { clientExtensionResults: {} };

export const passkeyName = z.string().trim().min(1).max(60);

/** `RegistrationResponseJSON` of WebAuthn. */
export const addPasskeyBody = z.object({
  name: passkeyName,
  response: credential
    .extend({
      response: z.object({
        clientDataJSON: bytes,
        attestationObject: bytes,
        transports: z
          .array(z.string().regex(/^[a-z-]{1,20}$/))
          .max(10)
          .optional(),
      }),
    })
    .transform((given) => ({ ...given, ...noExtensions })),
});

/** `AuthenticationResponseJSON` of WebAuthn. */
export const signInPasskeyBody = z.object({
  response: credential
    .extend({
      response: z.object({ clientDataJSON: bytes, authenticatorData: bytes, signature: bytes, userHandle: bytes.optional() }),
    })
    .transform((given) => ({ ...given, ...noExtensions })),
});
