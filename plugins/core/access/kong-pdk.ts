import type KongClient from 'kong-pdk/kong/client';
import type KongNginx from 'kong-pdk/kong/nginx';
import type KongRequest from 'kong-pdk/kong/request';
import type KongResponse from 'kong-pdk/kong/response';
import type KongService from 'kong-pdk/kong/service';
import type { ReadOn } from '../problems';
import type KongServiceRequest from 'kong-pdk/kong/service/request';

/** Corrects members whose published type is less precise than Kong. A test checks that kong-pdk's own object still fits. */
interface Corrected {
  /** The published type lacks the parameter. An unknown variable reads as the empty string. */
  getVar(name: string): ReturnType<KongNginx['getVar']>;
  /** The published type allows bytes only. Tollgate's server also reports when Kong put the body into a file. */
  getRawBody(): Promise<RawBody | Awaited<ReturnType<KongRequest['getRawBody']>>>;
  /** The published type allows any object. Kong's plugins read these members. */
  authenticate(
    consumer: { id: string; username: string },
    credential: { id: string; consumer_id: string },
  ): ReturnType<KongClient['authenticate']>;
  /** The published type allows text only, but a body may have any bytes. */
  setRawBody(body: string | Buffer): ReturnType<KongServiceRequest['setRawBody']>;
}

/**
 * The part of kong-pdk's types that the access layer uses, so the plugin class runs on Tollgate's plugin server and on the stock one.
 * Every reading method is one exchange with Kong; calls that start together (without awaiting the first) travel in one write.
 */
export interface KongPdk {
  request: Pick<KongRequest, 'getHeaders' | 'getRawQuery'> & Pick<Corrected, 'getRawBody'>;
  client: Pick<KongClient, 'getForwardedIp'> & Pick<Corrected, 'authenticate'>;
  nginx: Pick<Corrected, 'getVar'>;
  service: Pick<KongService, 'setTarget'> & {
    /** `setHeaders` replaces every case variant and duplicate of a name, not its underscore twin. An empty list removes the header. */
    request: Pick<KongServiceRequest, 'setHeaders' | 'clearHeader' | 'setRawQuery'> & Pick<Corrected, 'setRawBody'>;
  };
  /**
   * `exit` ends the request: nothing reaches the service, and headers set before are kept. Kong responds with 500 to a status outside 100
   * to 599.
   */
  response: Pick<KongResponse, 'setHeaders' | 'exit'>;
}

/** The plugin used the PDK of an event that is over: its response was sent, or the caller or Kong is gone. */
export class EventOverError extends Error {
  override readonly name = 'EventOverError';
  constructor() {
    super('this request already has a response');
  }
}

/** A request body as Kong holds it: in memory, or spooled to a file beside Kong when larger than its buffer. */
export type RawBody = { content: Buffer } | { filePath: string };

/** One configuration of a plugin. */
export interface KongPlugin {
  access(kong: KongPdk): Promise<void>;
}

/** The parts of a plugin that Kong's plugin server protocol needs. kong-pdk loads modules of the same shape. */
export interface PluginModule<Instance extends KongPlugin = KongPlugin> {
  readonly Name: string;
  readonly Version: string;
  readonly Priority: number;
  /** Kong schema fields of the plugin's configuration record. */
  readonly Schema: readonly Record<string, unknown>[];
  /** Constructed once for each configuration (plugin instance). `config` is the configuration in kong.yml plus Kong's own `__…` members. */
  readonly Plugin: new (config: Record<string, unknown>) => Instance;
  /** For refusals by an entrance, before the plugin decides. */
  readonly readOn?: ReadOn | undefined;
}
