-- The access layer's question in HAProxy: `http-request lua.tollgate api-NAME` in each guarded backend. HAProxy has no directive for it, so this asks
-- with HAProxy's own HTTP client, which waits without blocking. Only a 200 with a proof goes on. HAProxy itself lets a request pass when an action in
-- Lua fails or runs too long: the `http-request deny … unless` that follows the action in haproxy.cfg is what refuses then.

local AUTHORIZER = 'unix@/var/run/tollgate/forward-auth.sock'
-- A decision takes 5 s at most.
local TIMEOUT_MS = 6000

local UNDECIDED = '{"type":"about:blank","title":"Access check not possible","status":503,"detail":"The request could not be checked and was refused. '
  .. 'Try again shortly.","code":"access_layer_unavailable","request_id":"%s"}'

-- Not passed on: about the client's connection or body, or set below.
local OWN = {
  ['host'] = true, ['connection'] = true, ['content-length'] = true, ['transfer-encoding'] = true, ['upgrade'] = true, ['expect'] = true,
  ['x-forwarded-uri'] = true, ['x-forwarded-method'] = true, ['x-forwarded-for'] = true, ['x-request-id'] = true, ['x-tollgate-gateway'] = true,
}

-- Of the exchange with the access layer, or set again below.
local HOP = { ['content-length'] = true, ['connection'] = true, ['keep-alive'] = true, ['x-kong-request-id'] = true }

local function is_gateways(name)
  return name:find('^x[-_]tollgate[-_]') ~= nil
end

local function is_key(name)
  return name:gsub('_', '-') == 'x-api-key'
end

local function refuse(txn, id, answer)
  local reply = txn:reply({ status = answer and answer.status or 503 })
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
  reply:set_body(answer and answer.body or UNDECIDED:format(id))
  txn:done(reply)
end

local function ask(txn, route, id, sent)
  local headers = {
    ['x-forwarded-uri'] = { txn.f:url() },
    ['x-forwarded-method'] = { txn.f:method() },
    ['x-forwarded-for'] = { txn.f:src() },
    ['x-request-id'] = { id },
  }
  for name, values in pairs(sent) do
    if not OWN[name] then
      local list = {}
      for index = 0, #values do
        list[#list + 1] = values[index]
      end
      headers[name] = list
    end
  end
  local url = 'http://authorizer/haproxy/authorize/' .. route
  return core.httpclient():get({ url = url, headers = headers, dst = AUTHORIZER, timeout = TIMEOUT_MS })
end

local function only(answer, name)
  local values = answer.headers[name]
  return values and values[0]
end

local function admit(txn, id, sent, answer)
  for name in pairs(sent) do
    if is_gateways(name) or is_key(name) or name == 'authorization' then
      txn.http:req_del_header(name)
    end
  end
  txn.http:req_set_uri(only(answer, 'x-tollgate-uri'))
  txn.http:req_set_header('x-tollgate-context', only(answer, 'x-tollgate-context'))
  txn.http:req_set_header('x-kong-request-id', id)
  for header, from in pairs({ ['authorization'] = 'x-tollgate-authorization', ['traceparent'] = 'x-tollgate-traceparent' }) do
    if only(answer, from) then
      txn.http:req_set_header(header, only(answer, from))
    end
  end
  -- Last: a failure before it admits nobody.
  txn:set_var('txn.tollgate_admitted', true)
end

core.register_action('tollgate', { 'http-req' }, function(txn, route)
  local id = txn.f:uuid():gsub('-', '')
  txn:set_var('txn.tollgate_id', id)
  local sent = txn.http:req_get_headers()
  local asked, answer = pcall(ask, txn, route, id, sent)
  if not asked or not answer then
    return refuse(txn, id)
  end
  if answer.status == 200 and only(answer, 'x-tollgate-context') and only(answer, 'x-tollgate-uri') then
    return admit(txn, id, sent, answer)
  end
  -- HAProxy's client makes a 503 of its own where nobody answers; an answer of ours that refuses nothing refuses too.
  if answer.status < 400 or not answer.body or answer.body == '' or not only(answer, 'content-type') then
    return refuse(txn, id)
  end
  return refuse(txn, id, answer)
end, 1)
