import { createHash, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { Server, ServerCredentials, status, type sendUnaryData, type ServerUnaryCall, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { askAccess, refusalOf } from '../access-layer/held-request';
import { EntranceRoutes } from '../access-layer/entrance-routes';
import { type PluginModule } from '../core/kong-pdk';
import { readCheck, writeCheck } from './check-adapter';
import { type CheckRequest, type CheckResponse } from './check-messages';

export interface ExtAuthzOptions {
  readonly plugin: PluginModule;
  /** A unix socket, whose permissions are the proof, or a private network where `secret` is. */
  readonly listen: { readonly path: string } | { readonly host: string; readonly port: number };
  /** Envoy sends it as initial metadata; required on TCP. */
  readonly secret: string | undefined;
  readonly log: { error(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** Beside the folders of the code, before and after compilation. */
const PROTO = join(__dirname, '../../protos/envoy/v3/external_auth.proto');
const SECRET_METADATA = 'x-tollgate-gateway';
/** Envoy's limit for the head of a request is 60 KiB, at most 8 MiB where somebody raised it. */
const MAX_MESSAGE_BYTES = 262_144;

export function loadAuthorization(): ServiceDefinition {
  const found = loadSync(PROTO, { longs: Number, enums: String, defaults: true, oneofs: true })['envoy.service.auth.v3.Authorization'];
  if (!found || 'format' in found) throw new Error('protos/envoy has no Authorization');
  return found;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Answers Envoy, and what is built on it, about each request: envoy.service.auth.v3.Authorization/Check. */
export class ExtAuthzServer {
  private readonly server = new Server({ 'grpc.max_receive_message_length': MAX_MESSAGE_BYTES });
  private readonly routes: EntranceRoutes;
  private readonly expected: Buffer | undefined;
  private boundPort = 0;

  constructor(private readonly options: ExtAuthzOptions) {
    const { listen, secret, plugin } = options;
    const isOnTcp = !('path' in listen);
    if (isOnTcp && secret === undefined) throw new Error('ext-authz on TCP needs GATEWAY_SECRET');
    this.expected = isOnTcp && secret !== undefined ? digest(secret) : undefined;
    this.routes = new EntranceRoutes(plugin);
    this.server.addService(loadAuthorization(), {
      check: (call: ServerUnaryCall<CheckRequest, CheckResponse>, answer: sendUnaryData<CheckResponse>) => {
        // An error of gRPC is one that Envoy refuses by failure_mode_allow: false.
        this.check(call, answer).catch(() => answer({ code: status.INTERNAL }));
      },
    });
  }

  listen(): Promise<void> {
    const { listen } = this.options;
    const address = 'path' in listen ? `unix:${listen.path}` : `${listen.host}:${listen.port}`;
    return new Promise((resolve, reject) => {
      this.server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
        if (error) {
          reject(error);
          return;
        }
        this.boundPort = port;
        resolve();
      });
    });
  }

  /** The port, for a server that was given 0. */
  get port(): number {
    return this.boundPort;
  }

  /** Takes no more questions and ends when those under way are answered, after `graceMs` at the latest. */
  close({ graceMs }: { graceMs: number }): Promise<void> {
    return new Promise((resolve) => {
      const cut = setTimeout(() => this.server.forceShutdown(), graceMs);
      this.server.tryShutdown(() => {
        clearTimeout(cut);
        resolve();
      });
    });
  }

  /** Every error of ours is a denial: Envoy is never left to choose. */
  private async check(call: ServerUnaryCall<CheckRequest, CheckResponse>, answer: sendUnaryData<CheckResponse>): Promise<void> {
    const held = readCheck(call.request);
    const { requestId } = held;
    const unavailable = (): void => answer(null, writeCheck(refusalOf('access_layer_unavailable', { requestId }), { requestId }));
    try {
      if (!this.isProved(call)) {
        this.options.log.warn({}, 'a caller that does not prove to be the gateway was refused');
        unavailable();
      } else if (!('fault' in held)) {
        // One JSON text for one route: Envoy sends its settings with every question.
        const instance = this.routes.find(JSON.stringify(held.route), held.route);
        const verdict = await askAccess(instance, held, (err) =>
          this.options.log.error({ err, requestId }, 'the request was refused undecided'),
        );
        answer(null, writeCheck(verdict, { requestId }));
      } else if (held.fault === 'client') {
        answer(null, writeCheck(refusalOf('request_not_readable', { requestId, detail: held.why }), { requestId }));
      } else {
        this.options.log.error({ why: held.why }, 'Envoy’s configuration is not complete');
        unavailable();
      }
    } catch (err) {
      this.options.log.error({ err, requestId }, 'Envoy’s question could not be answered and was refused');
      unavailable();
    }
  }

  private isProved({ metadata }: ServerUnaryCall<CheckRequest, CheckResponse>): boolean {
    if (this.expected === undefined) return true;
    const [given, ...more] = metadata.get(SECRET_METADATA);
    return more.length === 0 && timingSafeEqual(this.expected, digest(typeof given === 'string' ? given : ''));
  }
}
