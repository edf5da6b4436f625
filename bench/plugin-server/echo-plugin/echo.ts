import { type KongPdk } from '../../../plugins/core/access/kong-pdk';

// A plugin with the access layer's shape and cost for Kong (four concurrent reads, two writes), but without a decision. Both Tollgate's
// server and the stock server load it in the benchmark, so its members are those that kong-pdk looks for in a module.

export const Name = 'echo';
export const Version = '1.0.0';
export const Priority = 1000;
export const Schema: Record<string, unknown>[] = [{ message: { type: 'string', default: 'hello' } }];

export class Plugin {
  constructor(private readonly config: Record<string, unknown>) {}

  async access(kong: KongPdk): Promise<void> {
    const [headers, query, address, requestId] = await Promise.all([
      kong.request.getHeaders(),
      kong.request.getRawQuery(),
      kong.client.getForwardedIp(),
      kong.nginx.getVar('kong_request_id'),
    ]);
    const { host } = headers as Record<string, string>;
    await kong.service.request.setHeaders({
      'X-Echo': `${String(this.config['message'])} ${host} ${query} ${address} ${String(requestId)}`,
    });
    await kong.service.request.clearHeader('X-API-Key');
  }
}
