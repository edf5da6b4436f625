-- Asks Tollgate's plugin server about a request, in one exchange over a kept connection, and does to the request what the verdict says.
-- It uses OpenResty's API alone, so it runs in Kong and in nginx with the Lua module. The frames: plugins/lane/frames.ts.
-- Whatever goes wrong is a 503. It writes no log: nginx adds the request line, and with it a key in the query, to what it logs.

local byte, char, find, sub = string.byte, string.char, string.find, string.sub
local req, tcp = ngx.req, ngx.socket.tcp

local lane = {}

-- Before 1.23, nginx shows the first of a repeated header in its variables and hides the others.
lane.shows_repeated = ngx.config.nginx_version >= 1023000

local CONNECT_MS, SEND_MS = 1000, 2000
-- A decision takes 5 s at most.
local READ_MS = 6000
-- Connections that nginx keeps, for each of its workers.
local KEPT, KEPT_MS = 256, 60000
-- A form of 1 MiB, or more where a route's form_key_max_bytes says so.
local MOST_BYTES = 64 * 1024 * 1024

-- For a form that may hold the key, as a whole, where the route does not say: as long as the access layer waits for it.
local FORM_MS = 5000
local PIECE = 64 * 1024

-- So long an answer waits for a question with which it can be told, and so many wait.
local TELL_SECONDS, MOST_TOLD = 0.2, 4096
-- As for the other gateways.
local UNITS_LONGEST = 30

local VERSION = byte('1')
local ASKS_HEAD, ASKS_BODY, LEAVING, FORM, ADMITTED, REFUSED = byte('h'), byte('b'), byte('x'), byte('f'), byte('a'), byte('r')
local PROOF = 'X-Tollgate-Context'

local function request_id()
  return ngx.var.kong_request_id or ngx.var.request_id or ''
end

-- The answer where there is no verdict.
function lane.undecided()
  return {
    status = 503,
    headers = { ['Content-Type'] = 'application/problem+json', ['Cache-Control'] = 'no-store', ['Retry-After'] = '1' },
    body = '{"type":"about:blank","title":"Access check not possible","status":503,"detail":"The request could not be checked and was refused. '
      .. 'Try again shortly.","code":"access_layer_unavailable","request_id":"' .. request_id() .. '"}',
  }
end

-- A table of parts: joined into one string, each question would be one more string for LuaJIT to keep.
local function frame(kind, parts)
  local length = 2
  for index = 1, #parts do
    length = length + #parts[index]
  end
  local low, high = length % 65536, math.floor(length / 65536)
  return { char(low % 256, math.floor(low / 256), high % 256, math.floor(high / 256)), '1', kind, parts }
end

-- By place: a line for each admitted request that was answered, until it is told. And the timer that tells what no question takes along.
local answered, timers = {}, {}

local function take(place)
  local lines = answered[place] or {}
  answered[place] = nil
  return lines
end

-- They may have been heard: the second time counts for nothing.
local function put_back(place, lines)
  local waiting = answered[place] or {}
  answered[place] = waiting
  for index = 1, math.min(#lines, MOST_TOLD - #waiting) do
    waiting[#waiting + 1] = lines[index]
  end
end

-- Nothing unless the frame is whole and of this version.
local function receive(socket)
  local prefix = socket:receive(4)
  if not prefix then
    return nil
  end
  local a, b, c, d = byte(prefix, 1, 4)
  local length = a + 256 * (b + 256 * (c + 256 * d))
  if length < 2 or length > MOST_BYTES then
    return nil
  end
  local text = socket:receive(length)
  return text and byte(text) == VERSION and text or nil
end

local function head(begin)
  local parts = { begin, req.get_method(), '\n', ngx.var.remote_addr, '\n', ngx.var.request_uri, '\n', ngx.var.args or '', '\n' }
  for name, values in pairs(req.get_headers(0, true)) do
    for _, value in ipairs(type(values) == 'table' and values or { values }) do
      parts[#parts + 1] = name .. ':' .. value .. '\n'
    end
  end
  parts[#parts + 1] = request_id()
  return parts
end

-- nginx itself only bounds the pause between two pieces.
local function read_form(patience_ms)
  local client = req.socket()
  -- HTTP/2 has no such socket.
  if not client then
    return req.read_body()
  end
  local missing, deadline = tonumber(ngx.var.content_length), ngx.now() + patience_ms / 1000
  req.init_body()
  while missing > 0 do
    client:settimeout(math.max((deadline - ngx.now()) * 1000, 1))
    local piece = client:receiveany(math.min(missing, PIECE))
    -- Ends the connection with the request: what is still to come is no other request.
    if not piece then
      return ngx.exit(ngx.HTTP_REQUEST_TIMEOUT)
    end
    req.append_body(piece)
    missing = missing - #piece
  end
  req.finish_body()
end

local function body(route)
  read_form(tonumber(route:match('form_key_timeout_ms=(%d+)')) or FORM_MS)
  local path = req.get_body_file()
  local file = path and assert(io.open(path, 'rb'))
  local text = file and file:read('*a') or req.get_body_data() or ''
  if file then
    file:close()
  end
  return { text }
end

local function question(route)
  local variable = lane.shows_repeated and ngx.var.tollgate_request
  if variable then
    return frame('q', { route, '\n', variable })
  end
  return frame('w', head(route .. '\n'))
end

local function open(place)
  local socket = tcp()
  socket:settimeouts(CONNECT_MS, SEND_MS, READ_MS)
  return socket:connect(place) and socket
end

-- The question, and what was answered since the last one.
local function ask(socket, place, route)
  local lines = take(place)
  local sent = socket:send(#lines == 0 and question(route) or { frame('t', lines), question(route) })
  if not sent then
    put_back(place, lines)
  end
  return sent, lines
end

-- The verdict's frame, and the form without the key where there is one.
local function exchange(place, route, again)
  local socket = open(place)
  local sent, lines, form
  if socket then
    sent, lines = ask(socket, place, route)
  end
  if not sent then
    return nil
  end
  while true do
    local text = receive(socket)
    local kind = text and byte(text, 2)
    if kind == ADMITTED or kind == REFUSED then
      socket:setkeepalive(KEPT_MS, KEPT)
      return text, form
    elseif kind == FORM then
      form = sub(text, 3)
    elseif kind == ASKS_HEAD then
      socket:send(frame('h', head('')))
    elseif kind == ASKS_BODY then
      socket:send(frame('b', body(route)))
    else
      socket:close()
      put_back(place, lines)
      -- The server is being replaced and has not read the question.
      if kind == LEAVING and not again then
        return exchange(place, route, true)
      end
      return nil
    end
  end
end

-- Each line is a change: its first character says of what.
local function admit(text, form)
  local verdict, proved, from = {}, false, 3
  while from <= #text do
    local stop = find(text, '\n', from, true) or #text + 1
    local what, line = sub(text, from, from), sub(text, from + 1, stop - 1)
    local colon = find(line, ':', 1, true) or #line + 1
    local name, value = sub(line, 1, colon - 1), sub(line, colon + 1)
    if what == '=' then
      req.set_header(name, value)
      proved = proved or name == PROOF and #value > 0
    elseif what == '-' then
      req.clear_header(name)
    elseif what == '?' then
      verdict.query = line
      req.set_uri_args(line)
    elseif what == '+' then
      verdict.answer = verdict.answer or {}
      verdict.answer[name] = value
    elseif what == '>' then
      verdict.host, verdict.port = value, tonumber(name)
    else
      error('an unknown change')
    end
    from = stop + 1
  end
  if form then
    req.set_body_data(form)
  end
  return proved and verdict
end

local function refuse(text)
  local stop = find(text, '\n', 1, true)
  local verdict = { status = tonumber(sub(text, 3, stop - 1)), headers = {} }
  local from = stop + 1
  stop = find(text, '\n', from, true)
  while stop > from do
    local colon = find(text, ':', from, true)
    verdict.headers[sub(text, from, colon - 1)] = sub(text, colon + 1, stop - 1)
    from = stop + 1
    stop = find(text, '\n', from, true)
  end
  verdict.body = sub(text, stop + 1, find(text, '\n', stop + 1, true) - 1)
  return verdict.status >= 200 and verdict.status <= 599 and verdict
end

local function decide(place, route)
  local text, form = exchange(place, route)
  if not text then
    return nil
  end
  return byte(text, 2) == ADMITTED and admit(text, form) or byte(text, 2) == REFUSED and refuse(text)
end

-- Asks about the request under way. The answer is to be sent if the verdict has a `status`, and nothing may reach the service then. Otherwise the
-- request was admitted and changed, and its `answer`, if any, are headers for the caller; `host` and `port` are where it goes instead.
-- `place` is unix:PATH; `route` is products and settings: api-a,api-b;key_in=x-api-key
function lane.ask(place, route)
  local asked, verdict = pcall(decide, place, route)
  return asked and verdict or lane.undecided()
end

local function flush(_, place)
  timers[place] = nil
  local lines = take(place)
  local socket = #lines > 0 and open(place)
  if socket and socket:send(frame('t', lines)) then
    socket:setkeepalive(KEPT_MS, KEPT)
  else
    put_back(place, lines)
  end
end

-- For the log phase of an admitted request: tells the plugin server what it was answered with (plugins/core/access/answer-line.ts), with the next
-- question or soon. No request waits for it. No time of a head: the API sent no answer. Units: what the API says that its answer costs, if it is no
-- longer than a number can be: an API must not make the frame of everybody's questions too long.
function lane.tell(place)
  local var, waiting = ngx.var, answered[place] or {}
  answered[place] = waiting
  if #waiting < MOST_TOLD then
    local units = var.upstream_http_x_units
    waiting[#waiting + 1] = request_id() .. ' ' .. var.status .. ' ' .. var.request_time .. ' ' .. var.body_bytes_sent .. ' '
      .. (var.upstream_header_time or '-') .. (units and #units <= UNITS_LONGEST and ' units=' .. units or '') .. '\n'
  end
  timers[place] = timers[place] or ngx.timer.at(TELL_SECONDS, flush, place)
end

return lane
