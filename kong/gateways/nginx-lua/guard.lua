-- Applies the access layer's verdict in nginx. Only an admitted request gets an address ($tollgate_uri).

local lane = require 'lane'
local var = ngx.var

local function answer(verdict)
  -- An unread body would be parsed as the next request.
  ngx.req.discard_body()
  ngx.status = verdict.status
  for name, value in pairs(verdict.headers) do
    ngx.header[name] = value
  end
  ngx.header['Content-Length'] = #verdict.body
  ngx.print(verdict.body)
  return ngx.exit(verdict.status)
end

-- Servers read these differently: an encoded slash or backslash, and a fragment. nginx chose the location by the
-- decoded path.
local function is_unclear(uri)
  local path = uri:match('^[^?]*')
  return uri:find('#', 1, true) or path:find('%%2[fF]') or path:find('%%5[cC]') or path:find('\\', 1, true)
end

local UNCLEAR = '{"type":"about:blank","title":"Path can be read in two ways","status":400,"detail":"An encoded slash, a backslash or a fragment '
  .. 'makes another address of this one for another server. Send the address that you mean.","code":"ambiguous_path","request_id":"%s"}'

-- The variable names only the known ones.
local function strip()
  for name in pairs(ngx.req.get_headers(0)) do
    if name:find('^x%-tollgate%-') and name ~= 'x-tollgate-context' then
      ngx.req.clear_header(name)
    end
  end
end

-- The parsed settings of each location: the question for the lane, and the prefix to be stripped from the path.
local settings = {}

local function setting(text)
  local known = settings[text]
  if not known then
    known = { route = text:gsub(';strip_path=[^;]*', ''), prefix = text:match(';strip_path=([^;]*)') }
    settings[text] = known
  end
  return known
end

-- As in Kong: /weather/pune without /weather is /pune, and /weather is /. A path that is not below the prefix stays.
local function strip_path(path, prefix)
  if path == prefix then
    return '/'
  end
  return prefix and path:sub(1, #prefix + 1) == prefix .. '/' and path:sub(#prefix + 1) or path
end

local function guard()
  if is_unclear(var.request_uri) then
    local headers = { ['Content-Type'] = 'application/problem+json', ['Cache-Control'] = 'no-store' }
    return { status = 400, headers = headers, body = UNCLEAR:format(var.request_id) }
  end
  local said = setting(var.tollgate_product)
  local verdict = lane.ask(var.tollgate_socket, said.route)
  if verdict.status then
    return verdict
  end
  if verdict.host then
    error('nginx sends a request to its location\'s service alone')
  end
  strip()
  for name, value in pairs(verdict.answer or {}) do
    ngx.header[name] = value
  end
  local query = verdict.query or var.args or ''
  -- Must come last: a failure before it admits nobody. The path is the one by which nginx chose the location.
  var.tollgate_admitted_uri = ngx.escape_uri(strip_path(var.uri, said.prefix), 0) .. (query == '' and '' or '?' .. query)
  return nil
end

local guarded, refusal = pcall(guard)
if not guarded then
  refusal = lane.undecided()
end
if refusal then
  return answer(refusal)
end
