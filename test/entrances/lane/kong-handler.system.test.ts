import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findFreePorts } from '../../../cli/postgres/free-port';
import { ACCESS_LAYER } from '../../../plugins/access-layer/plugin';
import { KONG_SCHEMA } from '../../../plugins/access-layer/config';
import { REQUEST_TEXT, REQUEST_VARIABLE } from '../../../plugins/core/access/request-variable';
import { LaneServer } from '../../../plugins/entrances/lane/lane-server';
import { key, recordOf } from '../../access-layer/call-plugin';
import { LUA_FILES } from '../../gateways/support/running-gateway';
import { LUA_MODULES } from '../../../kong/gateways/render';
import { stagePlugin } from '../../gateways/support/entrance-stage';
import { ensurePackages } from '../../support/debian-packages';
import { eventually } from '../../support/eventually';
import { send, type Reply } from '../../support/http';
import { endProgram } from '../../support/system/program';

/*
 * handler.lua and schema.lua run in nginx here, with a stand-in of the few functions of Kong's PDK that they call. It shows that they call them,
 * with what arguments, and what they make of an error; not that a real Kong does what the stand-in does.
 */

const LANE = resolve(__dirname, '../../../kong/lane');
const CONF = { products: ['api-ip', 'api-gst'], key_in: ['x-api-key', 'form'], quota: true, post_units: 1 } as const;

const VARIABLE = `$${REQUEST_VARIABLE} "${REQUEST_TEXT}"`;

const luaOf = (value: unknown): string => {
  if (Array.isArray(value)) return `{ ${value.map(luaOf).join(', ')} }`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value).map(([name, each]) => `${name} = ${luaOf(each)}`).join(', ')} }`; // prettier-ignore
};

/** A Kong of a few lines: the configuration comes from the location, and the address of the service is told to the caller. */
const nginxConf = (port: number, folder: string): string => `
${LUA_MODULES}
pid nginx.pid;
error_log stderr alert;
${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http {
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  access_log off;
  init_by_lua_block {
    package.preload['kong.plugins.tollgate.lane'] = loadfile('${LANE}/lane.lua')
    package.loaded['kong.db.schema.typedefs'] = { no_consumer = 'no_consumer', protocols_http = 'protocols_http' }
    schema = dofile('${LANE}/schema.lua')
    kong = {
      response = {
        exit = function(status, body, headers)
          ngx.status = status
          for name, value in pairs(headers) do ngx.header[name] = value end
          ngx.print(body)
          return ngx.exit(status)
        end,
        set_headers = function(headers) for name, value in pairs(headers) do ngx.header[name] = value end end,
      },
      client = {
        authenticate = function(consumer, credential)
          ngx.header['X-Client'] = table.concat({ consumer.id, consumer.username, credential.id, credential.consumer_id }, ' ')
        end,
      },
      service = { set_target = function(host, target) ngx.header['X-Target'] = host .. ' ' .. target end },
    }
    conf = ${luaOf({ ...CONF, socket: join(folder, 'lane.sock'), on_quota_store_error: 'deny', form_key_max_bytes: 1_048_576, form_key_timeout_ms: 5_000, rate_limit_headers: 'gateway', enforce: true, consumer: false })}
    trial = setmetatable({ enforce = false }, { __index = conf })
    named = setmetatable({ consumer = true }, { __index = conf })
    -- Once loaded, as in Kong. ngx.req is there in requests alone.
    function handler()
      -- As in Kong's nginx.
      require('kong.plugins.tollgate.lane').shows_repeated = true
      loaded = loaded or dofile('${LANE}/handler.lua')
      return loaded
    end
  }
  server {
    listen 127.0.0.1:${port};
    location /schema {
      content_by_lua_block {
        local function json(value)
          if type(value) ~= 'table' then return type(value) == 'string' and '"' .. value .. '"' or tostring(value) end
          local parts, is_list = {}, value[1] ~= nil
          for name, each in pairs(value) do parts[#parts + 1] = (is_list and '' or '"' .. name .. '":') .. json(each) end
          return (is_list and '[' or '{') .. table.concat(parts, ',') .. (is_list and ']' or '}')
        end
        ngx.print(json({ schema = schema, priority = handler().PRIORITY, version = handler().VERSION }))
      }
    }
    location /trial {
      set $kong_request_id $request_id;
      set ${VARIABLE};
      access_by_lua_block { handler():access(trial) }
      content_by_lua_block { ngx.print('served ' .. tostring(ngx.var.http_x_tollgate_context) .. tostring(ngx.var.http_x_api_key)) }
    }
    location /named {
      set $kong_request_id $request_id;
      set ${VARIABLE};
      access_by_lua_block { handler():access(named) }
      content_by_lua_block {
        local headers = ngx.req.get_headers()
        ngx.print(table.concat({ headers['x-consumer-id'], headers['x-consumer-username'], headers['x-credential-identifier'], tostring(headers['x-consumer-groups']) }, ' '))
      }
    }
    location /broken {
      access_by_lua_block { handler():access({ socket = conf.socket }) }
      content_by_lua_block { ngx.print('served') }
    }
    location / {
      set $kong_request_id $request_id;
      set ${VARIABLE};
      access_by_lua_block { handler():access(conf) }
      log_by_lua_block { handler():log(conf) }
      content_by_lua_block { ngx.req.read_body() ngx.print('served ' .. (ngx.var.args or '') .. (ngx.req.get_body_data() or '')) }
    }
  }
}`;

let folder: string;
let nginx: ChildProcess;
let lane: LaneServer | undefined;
let url: string;
const heard: string[] = [];

beforeAll(async () => {
  await ensurePackages(LUA_FILES, 'The tests of the lane');
  folder = mkdtempSync(join(tmpdir(), 'lane-handler-'));
  const [port = 0] = await findFreePorts(1);
  url = `http://127.0.0.1:${port}`;
  writeFileSync(join(folder, 'nginx.conf'), nginxConf(port, folder));
  nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'], { stdio: 'inherit' });
  await eventually(() => send(url).then(() => true, () => false)); // prettier-ignore
});
afterAll(async () => {
  await endProgram(nginx);
  rmSync(folder, { recursive: true, force: true });
});
afterEach(async () => {
  await lane?.close({ graceMs: 0 });
  lane = undefined;
  heard.length = 0;
});

async function serve(changes: Parameters<typeof recordOf>[0] = {}): Promise<void> {
  const { plugin, log } = stagePlugin(recordOf(changes));
  lane = new LaneServer({
    plugin,
    path: join(folder, 'lane.sock'),
    log,
    hear: (lines) => heard.push(...lines.split('\n').filter(Boolean)),
  });
  await lane.listen();
}

const ask = (path: string, headers: Record<string, string> = {}): Promise<Reply> => send(url + path, { headers });

it('the schema in Lua is that of the plugin access-layer, and a socket', async () => {
  const { schema, priority, version } = (await ask('/schema')).json();
  const [{ socket }, ...fields] = schema.fields[2].config.fields;
  expect(fields).toEqual(KONG_SCHEMA);
  expect(socket).toMatchObject({ type: 'string', default: '/var/run/tollgate/lane.sock' });
  expect({ name: schema.name, priority, version }).toEqual({
    name: 'tollgate',
    priority: ACCESS_LAYER.Priority,
    version: ACCESS_LAYER.Version,
  });
});

it('an admitted request goes on without the key, with what its configuration asks for', async () => {
  await serve();
  const { status, text, headers } = await ask('/?a=1', { 'X-API-Key': key });
  expect([status, text, headers['ratelimit']]).toEqual([200, 'served a=1', expect.stringContaining('"daily";r=1')]);
  const form = { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: `a=1&api_key=${key}` };
  expect((await send(url, form)).text).toBe('served a=1');
  expect((await ask('/', { Authorization: `Bearer ${key}` })).json().code).toBe('key_missing');
});

it('what an admitted request was answered with is told, and nothing of a refused one', async () => {
  await serve();
  await ask('/', {});
  await ask('/', { 'X-API-Key': key });
  // Of the tests before, 503 of requests to which nobody gave a verdict is told too.
  const told = (): string[] => heard.filter((line) => !line.includes(' 503 '));
  await eventually(() => told().length > 0);
  // The stand-in has no API behind it.
  expect(told()).toEqual([expect.stringMatching(/^[0-9a-f]{32} 200 \d+\.\d{3} \d+ -$/)]);
});

it('a request without a verdict is told of with its 503, once somebody hears', async () => {
  expect((await ask('/', { 'X-API-Key': key })).status).toBe(503);
  await serve();
  await ask('/', { 'X-API-Key': key });
  await eventually(() => heard.some((line) => / 503 \d+\.\d{3} \d+ -$/.test(line)));
});

it('what the variable cannot tell is told by the whole head', async () => {
  await serve();
  const forged = await ask('/', { 'X-API-Key': key, 'X-Tollgate-Customer': 'me', 'X-Filler': 'x'.repeat(3_000) });
  expect(forged.text).toBe('served ');
  const preflight = {
    Origin: 'https://app.example.com',
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'x-api-key',
  };
  const { status, headers } = await send(url, { method: 'OPTIONS', headers: preflight });
  expect([status, headers['access-control-allow-headers']]).toEqual([200, 'x-api-key']);
});

it('a refusal is Kong’s answer, whole', async () => {
  await serve({ state: 'inactive' });
  const refused = await ask('/', { 'X-API-Key': key });
  expect([refused.status, refused.json().code, refused.headers['content-type']]).toEqual([401, 'key_unknown', 'application/problem+json']);
});

it('a test key of an API with a sandbox is sent there', async () => {
  const subscriptions = recordOf().subscriptions.map((each) => ({ ...each, sandbox: { host: 'sandbox.example', port: 81 } }));
  await serve({ mode: 'test', subscriptions });
  expect((await ask('/', { 'X-API-Key': key })).headers['x-target']).toBe('sandbox.example 81');
});

it('a route that does not enforce lets everything through without a key or proof, unless nobody answers', async () => {
  await serve({ state: 'inactive' });
  const forged = { 'X-Tollgate-Context': 'forged', 'X-API-Key': key };
  for (const headers of [{}, forged]) expect((await ask('/trial', headers)).text).toBe('served nilnil');
  await lane?.close({ graceMs: 0 });
  expect((await ask('/trial')).status).toBe(503);
});

it('with `consumer` Kong and the service are told who calls, and what the client says of it is removed', async () => {
  await serve({ customerName: 'Größe Ltd' });
  const { text, headers } = await ask('/named', { 'X-API-Key': key, 'X-Consumer-Groups': 'admins', 'X-Consumer-ID': 'somebody' });
  const { customerId, credentialId } = recordOf();
  expect(text).toBe(`${customerId} Größe Ltd ${credentialId} nil`);
  expect(Buffer.from(String(headers['x-client']), 'latin1').toString()).toBe(`${customerId} Größe Ltd ${credentialId} ${customerId}`);
});

it('no socket, and an error in Lua, are 503', async () => {
  expect((await ask('/', { 'X-API-Key': key })).json().code).toBe('access_layer_unavailable');
  await serve();
  expect((await ask('/broken', { 'X-API-Key': key })).status).toBe(503);
});
