import { type PublicKeyCredentialCreationOptionsJSON, type PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { z } from 'zod';
import { done, passwordProof, PROOF_REFUSALS } from './account';
import { type Endpoints } from './endpoint';
import { id, moment } from './fields';

/** A provider by which people may sign in beside their passwords. */
const provider = z.object({ id: z.string(), name: z.string() });
export type Provider = z.input<typeof provider>;

/** A passkey of an account. */
const passkey = z.object({
  id,
  /** Its owner's name for it. */
  name: z.string(),
  createdAt: moment,
  /** Null: it has not been used yet. */
  lastUsedAt: moment.nullable(),
});
export type Passkey = z.input<typeof passkey>;

/** The ways into the person's own account. */
const ways = z.object({
  hasPassword: z.boolean(),
  connected: z.array(z.object({ id, name: z.string(), since: moment })),
  passkeys: z.array(passkey),
  /** Not connected yet. */
  offered: z.array(provider),
});
export type Ways = z.input<typeof ways>;

/**
 * What a device sends, as browsers write it: base64url. An attestation with certificates, which we do not ask for, takes a few kilobytes.
 */
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
/** Results of a credential's extensions; none are asked for. */
const noExtensions = { clientExtensionResults: {} };

const passkeyName = z.string().trim().min(1).max(60);

/** `RegistrationResponseJSON` of WebAuthn. */
const registration = credential
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
  .transform((given) => ({ ...given, ...noExtensions }));

/** `AuthenticationResponseJSON` of WebAuthn. */
const assertion = credential
  .extend({
    response: z.object({ clientDataJSON: bytes, authenticatorData: bytes, signature: bytes, userHandle: bytes.optional() }),
  })
  .transform((given) => ({ ...given, ...noExtensions }));

/** Options for the device, in WebAuthn's form. */
const creation = z.custom<PublicKeyCredentialCreationOptionsJSON>();
const challenge = z.custom<PublicKeyCredentialRequestOptionsJSON>();
/** The provider's page for signing in. */
const elsewhere = z.looseObject({ url: z.string() });

/** Ways into the person's own account besides its password. */
export const wayEndpoints = {
  'GET /account/ways': { for: 'persons', summary: 'List how the account opens', answer: ways },
  'POST /account/ways': {
    for: 'persons',
    summary: 'Begin to connect a provider',
    body: passwordProof.extend({ provider: z.string().max(40) }),
    answer: elsewhere,
    refuses: PROOF_REFUSALS,
  },
  'DELETE /account/ways/:id': {
    for: 'persons',
    summary: 'Disconnect a provider',
    body: passwordProof,
    answer: done,
    refuses: [...PROOF_REFUSALS, 'way_unknown', 'last_way'],
  },
  'DELETE /account/passkeys/:id': {
    for: 'persons',
    summary: 'Remove a passkey',
    body: passwordProof,
    answer: done,
    refuses: [...PROOF_REFUSALS, 'way_unknown', 'last_way'],
  },
} as const satisfies Endpoints;

/** Endpoints of a dashboard whose host name browsers accept for passkeys. */
export const passkeyEndpoints = {
  'POST /account/passkeys/options': {
    for: 'persons',
    summary: 'What a device shall make and sign',
    body: passwordProof,
    answer: creation,
    refuses: [...PROOF_REFUSALS, 'passkey_limit_reached'],
  },
  'POST /account/passkeys': {
    for: 'persons',
    summary: 'Add a passkey',
    body: z.object({ name: passkeyName, response: registration }),
    answer: done,
    refuses: ['passkey_unfit', 'passkey_expired', 'person_unverified'],
  },
  'POST /auth/sign-in/passkey/options': { for: 'everybody', summary: 'What a device shall sign to sign in', answer: challenge },
  'POST /auth/sign-in/passkey': {
    for: 'everybody',
    summary: 'Sign in with a passkey',
    body: z.object({ response: assertion }),
    answer: z.object({ status: z.literal(true) }),
    refuses: ['passkey_unknown', 'passkey_expired', 'person_unverified', 'operators_password'],
  },
} as const satisfies Endpoints;
