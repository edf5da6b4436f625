import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import { z } from 'zod';

/** What a device may be told to do wrong. */
export interface Wrong {
  /** The page that asks, as the browser says it. */
  readonly origin?: string;
  readonly domain?: string;
  readonly challenge?: string;
  /** False: nobody was asked for a fingerprint or PIN. */
  readonly isVerified?: boolean;
  /** Of another device. */
  readonly signedBy?: KeyObject;
}

const creationOptions = z.object({ challenge: z.string(), rp: z.object({ id: z.string() }) });
const requestOptions = z.object({ challenge: z.string(), rpId: z.string() });

const PRESENT = 0x01;
const VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const hash = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

/** A device with one passkey, in software: what a browser with a fingerprint reader answers, and what a forger would. */
export class SoftwarePasskey {
  readonly id = text(randomBytes(16));
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  private uses = 0;

  constructor(private readonly page: string) {}

  get privateKey(): KeyObject {
    return this.keys.privateKey;
  }

  /** Answers what registering asks, as `RegistrationResponseJSON`. */
  create(asked: unknown, wrong: Wrong = {}): Record<string, unknown> {
    const { challenge, rp } = creationOptions.parse(asked);
    const id = Buffer.from(this.id, 'base64url');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const authData = Buffer.concat([this.head(rp.id, HAS_CREDENTIAL, wrong), Buffer.alloc(16), length, id, this.publicKey()]);
    const attestationObject = isoCBOR.encode(
      new Map<string, string | Map<string, string> | Uint8Array>([
        ['fmt', 'none'],
        ['attStmt', new Map<string, string>()],
        ['authData', new Uint8Array(authData)],
      ]),
    );
    const response = { clientDataJSON: text(this.clientData('webauthn.create', challenge, wrong)), transports: ['internal'] };
    return this.credential({ ...response, attestationObject: text(attestationObject) });
  }

  /** Answers what signing in asks, as `AuthenticationResponseJSON`. */
  get(asked: unknown, wrong: Wrong = {}): Record<string, unknown> {
    const { challenge, rpId } = requestOptions.parse(asked);
    this.uses += 1;
    const authenticatorData = this.head(rpId, 0, wrong);
    const clientData = this.clientData('webauthn.get', challenge, wrong);
    const signature = sign('sha256', Buffer.concat([authenticatorData, hash(clientData)]), wrong.signedBy ?? this.keys.privateKey);
    return this.credential({
      clientDataJSON: text(clientData),
      authenticatorData: text(authenticatorData),
      signature: text(signature),
      userHandle: text(Buffer.from('whoever')),
    });
  }

  private credential(response: Record<string, unknown>): Record<string, unknown> {
    return { id: this.id, rawId: this.id, type: 'public-key', authenticatorAttachment: 'platform', clientExtensionResults: {}, response };
  }

  private clientData(type: string, challenge: string, wrong: Wrong): Buffer {
    const origin = wrong.origin ?? this.page;
    return Buffer.from(JSON.stringify({ type, challenge: wrong.challenge ?? challenge, origin, crossOrigin: false }));
  }

  /** Whom it answers, what it checked, and how often it was used. */
  private head(domain: string, flags: number, { domain: other, isVerified = true }: Wrong): Buffer {
    const uses = Buffer.alloc(4);
    uses.writeUInt32BE(this.uses);
    return Buffer.concat([hash(other ?? domain), Buffer.from([flags | PRESENT | (isVerified ? VERIFIED : 0)]), uses]);
  }

  /** In COSE: an elliptic curve key (2) of P-256 (1) for ES256 (-7). */
  private publicKey(): Buffer {
    const { x = '', y = '' } = this.keys.publicKey.export({ format: 'jwk' });
    const bytes = (part: string): Uint8Array => new Uint8Array(Buffer.from(part, 'base64url'));
    const key = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ]);
    return Buffer.from(isoCBOR.encode(key));
  }
}
