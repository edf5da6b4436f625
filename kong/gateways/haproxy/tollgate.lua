-- Asks the access layer from HAProxy: `http-request lua.tollgate api-NAME` in each guarded backend. HAProxy has no
-- directive for it, so this asks over an HAProxy socket, which waits without blocking. (HAProxy's own HTTP client
-- retries after a time-out, and each retry would take a unit of the quota.) Only a 200 with a proof goes on. HAProxy
-- lets a request pass if a Lua action fails or runs too long; then the `http-request deny … unless` after the action in
-- haproxy.cfg refuses it.

local AUTHORIZER = '/var/run/tollgate/forward-auth.sock'
-- A decision takes at most 5 s.
local TIMEOUT_SECONDS = 6

local UNDECIDED = '{"type":"about:blank","title":"Access check not possible","status":503,"detail":"The request could not be checked and was refused. '
  .. 'Try again shortly.","code":"access_layer_unavailable","request_id":"%s"}'

-- Headers that are not passed on: they concern the client's connection or body, or are set below.
local OWN = {
  ['host'] = true, ['connection'] = true, ['content-length'] = true, ['transfer-encoding'] = true, ['upgrade'] = true, ['expect'] = true,
  ['x-forwarded-uri'] = true, ['x-forwarded-method'] = true, ['x-forwarded-for'] = true, ['x-request-id'] = true, ['x-tollgate-gateway'] = true,
}

-- Headers of the exchange with the access layer, or set again below.
local HOP = { ['x-tollgate-status'] = true, ['x-tollgate-problem'] = true, ['content-length'] = true, ['connection'] = true, ['keep-alive'] = true, ['x-kong-request-id'] = true }

-- Response headers for the caller, added by haproxy.cfg.
local TOLD = {
  ['access-control-allow-origin'] = 'txn.tollgate_allow_origin',
  ['access-control-expose-headers'] = 'txn.tollgate_expose_headers',
  ['vary'] = 'txn.tollgate_vary',
  ['ratelimit'] = 'txn.tollgate_ratelimit',
  ['ratelimit-policy'] = 'txn.tollgate_ratelimit_policy',
}

local function is_gateways(name)
  return name:find('^x[-_]tollgate[-_]') ~= nil
end

local function is_key(name)
  return name:gsub('_', '-') == 'x-api-key'
end

local function refuse(txn, id, answer, status)
  local reply = txn:reply({ status = status or answer and answer.status or 503 })
  for name, values in pairs(answer and answer.headers or {}) do
    if not HOP[name] then
      for _, value in pairs(values) do
        reply:add_header(name, value)
      end
    end
  end
  if not answer then
    reply:add_header('content-type', 'application/problem+json')
    reply:add_header('cache-control', 'no-store')
    reply:add_header('retry-after', '1')
  end
  reply:add_header('x-kong-request-id', id)
  reply:set_body(answer and answer.body or (UNDECIDED:gsub('%%s', id)))
  txn:done(reply)
end

local function question(txn, route, id, sent)
  local lines = {
    'GET /haproxy/authorize/' .. route .. ' HTTP/1.1',
    'host: authorizer',
    'connection: close',
    'x-forwarded-uri: ' .. txn.f:url(),
    'x-forwarded-method: ' .. txn.f:method(),
    'x-forwarded-for: ' .. txn.f:src(),
    'x-request-id: ' .. id,
  }
  for name, values in pairs(sent) do
    if not OWN[name] then
      for index = 0, #values do
        lines[#lines + 1] = name .. ': ' .. values[index]
      end
    end
  end
  return table.concat(lines, '\r\n') .. '\r\n\r\n'
end

-- Nothing if the response is incomplete: a server that is killed may send only the first half.
local function parse(text)
  local status, head, body = text:match('^HTTP/1%.1 (%d%d%d)[^\r\n]*\r\n(.-\r\n)\r\n(.*)$')
  if not status then
    return nil
  end
  local headers = {}
  for name, value in head:gmatch('([^:\r\n]+): *([^\r\n]*)\r\n') do
    name = name:lower()
    headers[name] = headers[name] or {}
    table.insert(headers[name], value)
  end
  local length = headers['content-length'] and tonumber(headers['content-length'][1])
  if length ~= #body then
    return nil
  end
  return { status = tonumber(status), headers = headers, body = body }
end

local function ask(txn, route, id, sent)
  local socket = core.tcp()
  socket:settimeout(TIMEOUT_SECONDS)
  if not socket:connect(AUTHORIZER) then
    return nil
  end
  socket:send(question(txn, route, id, sent))
  local text = socket:receive('*a')
  socket:close()
  return text and parse(text)
end

local function only(answer, name)
  local values = answer.headers[name]
  return values and values[1]
end

local function admit(txn, route, id, sent, answer)
  for name in pairs(sent) do
    if is_gateways(name) or is_key(name) or name == 'authorization' then
      txn.http:req_del_header(name)
    end
  end
  -- Headers that the route's key_in names.
  for name in route:gmatch('header:([%w-]+)') do
    txn.http:req_del_header(name)
  end
  -- Removes headers that hold a copy of the key.
  for name in (only(answer, 'x-tollgate-remove') or ''):gmatch('%S+') do
    txn.http:req_del_header(name)
  end
  txn.http:req_set_uri(only(answer, 'x-tollgate-uri'))
  txn.http:req_set_header('x-tollgate-context', only(answer, 'x-tollgate-context'))
  txn.http:req_set_header('x-kong-request-id', id)
  for header, from in pairs({ ['authorization'] = 'x-tollgate-authorization', ['traceparent'] = 'x-tollgate-traceparent' }) do
    if only(answer, from) then
      txn.http:req_set_header(header, only(answer, from))
    end
  end
  for header, name in pairs(TOLD) do
    if only(answer, header) then
      txn:set_var(name, only(answer, header))
    end
  end
  -- Must come last, so that a failure before it admits nobody.
  txn:set_var('txn.tollgate_admitted', true)
end

-- Removes the announced trailers from the head of a request. Trailers after the body would pass through unchanged, and
-- HAProxy has no rule for them, so such a request ends with 400 before its trailers go on. Only a body without a length
-- can have trailers.
local Trailers = { id = 'tollgate_trailers', flags = filter.FLT_CFG_FL_HTX }
Trailers.__index = Trailers

function Trailers:new()
  return setmetatable({}, Trailers)
end

function Trailers:start_analyze(_, channel)
  if not channel:is_resp() then
    filter.register_data_filter(self, channel)
  end
end

function Trailers:http_headers(_, message)
  if not message.channel:is_resp() and message:get_headers()['content-length'] then
    filter.unregister_data_filter(self, message.channel)
  end
end

-- HAProxy counts one byte for the end of a body.
function Trailers:http_payload(_, message)
  if message:input() - #(message:body() or '') > 1 then
    self.seen = true
  end
end

function Trailers:http_end()
  if self.seen then
    return filter.ERROR
  end
end

core.register_filter('tollgate_trailers', Trailers, function(trailers)
  return trailers
end)

core.register_action('tollgate', { 'http-req' }, function(txn, route)
  local id = txn.f:uuid():gsub('-', '')
  txn:set_var('txn.tollgate_id', id)
  local sent = txn.http:req_get_headers()
  local asked, answer = pcall(ask, txn, route, id, sent)
  if not asked or not answer then
    return refuse(txn, id)
  end
  if answer.status == 200 and only(answer, 'x-tollgate-context') and only(answer, 'x-tollgate-uri') then
    return admit(txn, route, id, sent, answer)
  end
  -- A browser's preflight gets a 200 and is not passed on.
  if answer.status == 403 and only(answer, 'x-tollgate-status') == '200' then
    return refuse(txn, id, answer, 200)
  end
  -- Only a problem of ours is passed to the caller.
  if answer.status < 400 or only(answer, 'content-type') ~= 'application/problem+json' then
    return refuse(txn, id)
  end
  return refuse(txn, id, answer)
end, 1)
