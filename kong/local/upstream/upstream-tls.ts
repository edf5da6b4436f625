import { createHash } from 'node:crypto';
import { isIP, connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';

export interface UpstreamTlsOptions {
  /** Kong's `tls_verify`: without it any certificate is taken. */
  readonly verifies: boolean;
  /** Certificates in PEM with which the service's is checked; those that Node.js brings along unless given. */
  readonly authorities: string | undefined;
}

/** How the certificate of a service is checked. */
export class UpstreamTls {
  readonly verifies: boolean;
  readonly #authorities: string | undefined;
  readonly #digest: string;
  #context: SecureContext | undefined;

  constructor({ verifies, authorities }: UpstreamTlsOptions) {
    this.verifies = verifies;
    this.#authorities = authorities;
    this.#digest = createHash('sha256')
      .update(authorities ?? '')
      .digest('hex');
  }

  /** Made once: reading the system's certificates takes milliseconds. @throws Error when they cannot be read */
  get context(): SecureContext {
    this.#context ??= createSecureContext(this.#authorities === undefined ? {} : { ca: this.#authorities });
    return this.#context;
  }

  /** Two that check alike read alike. */
  toJSON(): string {
    return `${this.verifies} ${this.#digest}`;
  }
}

export interface UpstreamAddress {
  readonly host: string;
  readonly port: number;
  /** Undefined: plain HTTP. */
  readonly tls?: UpstreamTls | undefined;
}

/** Begins a connection; `onReady` is called once a request can be sent. As Kong it names the host (SNI) and speaks HTTP/1.1. */
export function connectUpstream({ host, port, tls }: UpstreamAddress, onReady: () => void): Socket {
  if (!tls) return connectPlain({ host, port, noDelay: true }).once('connect', onReady);
  const socket = connectTls({
    host,
    port,
    ALPNProtocols: ['http/1.1'],
    secureContext: tls.context,
    rejectUnauthorized: tls.verifies,
    ...(isIP(host) === 0 && { servername: host }),
  });
  return socket.setNoDelay(true).once('secureConnect', onReady);
}
