import { join } from 'node:path';
import { Server, ServerCredentials, status, type sendUnaryData, type ServerUnaryCall, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { refusalOf } from '../../access-layer/held-request';
import { EntranceRoutes } from '../../access-layer/entrance-routes';
import { type PluginModule } from '../../core/access/kong-pdk';
import { type AccessInstance } from '../../core/access/verdict';
import { createProof, decideQuestion, type EntranceLog, type EntrancePlace, requestIdOf } from '../../access-layer/gateway-question';
import { readCheck, writeCheck } from './check-adapter';
import { type CheckRequest, type CheckResponse } from './check-messages';

/** Envoy sends the secret as initial metadata. */
export interface ExtAuthzOptions extends EntrancePlace {
  readonly plugin: PluginModule<AccessInstance>;
  readonly log: EntranceLog;
}

/** Relative to the code's folder, before and after compilation. */
const PROTO = join(__dirname, '../../../protos/envoy/v3/external_auth.proto');
const SECRET_METADATA = 'x-tollgate-gateway';
/** Envoy limits the head of a request to 60 KiB, and to at most 8 MiB if raised. */
const MAX_MESSAGE_BYTES = 262_144;

export function loadAuthorization(): ServiceDefinition {
  const found = loadSync(PROTO, { longs: Number, enums: String, defaults: true, oneofs: true })['envoy.service.auth.v3.Authorization'];
  if (!found || 'format' in found) throw new Error('protos/envoy has no Authorization');
  return found;
}

/** Decides on each request for Envoy and gateways built on it: envoy.service.auth.v3.Authorization/Check. */
export class ExtAuthzServer {
  private readonly server = new Server({ 'grpc.max_receive_message_length': MAX_MESSAGE_BYTES });
  private readonly routes: EntranceRoutes;
  private readonly isProved: (given: unknown) => boolean;
  private boundPort = 0;

  constructor(private readonly options: ExtAuthzOptions) {
    this.isProved = createProof(options);
    this.routes = new EntranceRoutes(options.plugin);
    this.server.addService(loadAuthorization(), {
      check: (call: ServerUnaryCall<CheckRequest, CheckResponse>, answer: sendUnaryData<CheckResponse>) => {
        // With failure_mode_allow: false, Envoy refuses on a gRPC error.
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

  /** Accepts no more questions, and ends once running ones have a response, after `graceMs` at the latest. */
  close({ graceMs }: { graceMs: number }): Promise<void> {
    return new Promise((resolve) => {
      const cut = setTimeout(() => this.server.forceShutdown(), graceMs);
      this.server.tryShutdown(() => {
        clearTimeout(cut);
        resolve();
      });
    });
  }

  /** Every error is a denial, so Envoy never has to choose. */
  private async check(call: ServerUnaryCall<CheckRequest, CheckResponse>, answer: sendUnaryData<CheckResponse>): Promise<void> {
    const requestId = requestIdOf(call.request.attributes?.request?.http?.id);
    const { log, plugin } = this.options;
    const { readOn } = plugin;
    const unavailable = (): void => answer(null, writeCheck(refusalOf('access_layer_unavailable', { requestId, readOn }), { requestId }));
    try {
      const given = call.metadata.get(SECRET_METADATA);
      if (!this.isProved(given.length === 1 ? given[0] : undefined)) {
        log.warn({}, 'a caller that does not prove to be the gateway was refused');
        unavailable();
        return;
      }
      const question = readCheck(call.request, requestId);
      const route = 'fault' in question ? {} : question.route;
      // One JSON text for each route, because Envoy sends its settings with every question.
      const verdict = await decideQuestion(question, { findInstance: () => this.routes.find(JSON.stringify(route), route), log, readOn });
      answer(null, writeCheck(verdict, 'fault' in question ? { requestId } : question));
    } catch (err) {
      log.error({ err, requestId }, 'Envoy’s question could not be answered and was refused');
      unavailable();
    }
  }
}
