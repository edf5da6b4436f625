/**
 * The part of Kong's plugin development kit that the access layer uses, in the shape of kong-pdk's published types: the same
 * plugin class runs on our plugin server and on the stock one. Every reading method is one exchange with Kong; calls that are
 * started together (without awaiting the first) travel in one write.
 */
export interface KongPdk {
  request: {
    /** Lower-cased names; a name sent once has a string, a repeated one an array. `maxHeaders` is 1 to 1000, Kong drops the rest. */
    getHeaders(maxHeaders?: number): Promise<unknown>;
    /** The query string without `?`, undecoded; empty when there is none. */
    getRawQuery(): Promise<string>;
    /** Our server answers {@link RawBody}; the stock server answers the bytes alone or fails when the body was spooled to a file. */
    getRawBody(): Promise<unknown>;
  };
  client: {
    /** The caller's address after Kong's trusted-proxy logic (`trusted_ips`, `real_ip_header`). */
    getForwardedIp(): Promise<string>;
  };
  nginx: {
    /** An nginx variable such as `kong_request_id`; empty, or undefined, when there is none of that name. */
    getVar(name: string): Promise<unknown>;
  };
  service: {
    /** Sends the request to this address instead of the service's. */
    setTarget(host: string, port: number): Promise<unknown>;
    request: {
      /** Replaces every case variant and duplicate of each name (not its underscore twin); an empty list removes the header. */
      setHeaders(headers: Record<string, string | string[]>): Promise<unknown>;
      clearHeader(name: string): Promise<unknown>;
      setRawQuery(query: string): Promise<unknown>;
      setRawBody(body: string | Buffer): Promise<unknown>;
    };
  };
  response: {
    /** Headers of the final answer; kept by a later `exit`. */
    setHeaders(headers: Record<string, string | string[]>): Promise<unknown>;
    /** Ends the request with this answer: nothing reaches the service. `status` must be 100 to 599 or Kong answers 500. */
    exit(status: number, body?: Buffer, headers?: Record<string, string | string[]>): Promise<unknown>;
  };
}

/** A request body as Kong holds it: in memory, or spooled to a file beside Kong when larger than its buffer. */
export type RawBody = { content: Buffer } | { filePath: string };

/** What Kong's plugin server protocol needs to know of a plugin; kong-pdk loads modules of the same shape. */
export interface PluginModule {
  readonly Name: string;
  readonly Version: string;
  readonly Priority: number;
  /** Kong schema fields of the plugin's configuration record. */
  readonly Schema: readonly Record<string, unknown>[];
  /** Constructed once for each configuration (plugin instance); `config` is what kong.yml says plus Kong's own `__…` members. */
  readonly Plugin: new (config: Record<string, unknown>) => { access(kong: KongPdk): Promise<void> };
}
