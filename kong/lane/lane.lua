-- Asks Tollgate's plugin server about a request in one exchange, and applies the verdict to the request. All requests
-- of an nginx worker share a few connections, so that under load one write carries many questions. It uses only
-- OpenResty's API, so it runs in Kong and in nginx with the Lua module. The frames: plugins/entrances/lane/frames.ts.
-- Any failure is a 503. It writes no log, because nginx adds the request line, and with it a key in the query, to log
-- lines.

local semaphore = require 'ngx.semaphore'

local band, rshift = bit.band, bit.rshift
local byte, char, find, sub = string.byte, string.char, string.find, string.sub
local req, tcp, thread = ngx.req, ngx.socket.tcp, ngx.thread
-- Kong's ngx.timer.at shares a few threads among all timers; a timer that runs for a minute must not occupy one.
local timer_at = _G.native_timer_at or ngx.timer.at

local lane = {}

-- Before 1.23, nginx variables hold only the first of a repeated header.
lane.shows_repeated = ngx.config.nginx_version >= 1023000

local CONNECT_MS, SEND_MS = 1000, 2000
-- A decision takes at most 5 s.
local VERDICT_SECONDS = 6
-- A connection takes new questions for this long. nginx frees its memory only when it ends.
local LINK_SECONDS = 60
-- From this many waiting requests on, another connection is opened, which another process of the plugin server may
-- accept. With more requests on each connection, all would move in step, and one process would wait while the other
-- works: of 32 at a time, 8 on each were a quarter faster than all on one.
local CROWD, MAX_LINKS = 8, 8
-- Maximum waiting questions of an nginx worker.
local MAX_WAITING = 4096
-- Maximum form: 1 MiB, or more if the route's form_key_max_bytes says so.
local MAX_BYTES = 64 * 1024 * 1024

-- Maximum time for a form that may hold the key, unless the route sets one: the access layer waits as long.
local FORM_MS = 5000
local PIECE = 64 * 1024

-- How long a report waits to travel with a question, and the maximum number of waiting reports.
local TELL_SECONDS, MAX_TOLD = 0.2, 4096
-- The same limit as for the other gateways.
local UNITS_LONGEST = 30

local VERSION = byte('2')
-- Frame types: sent, and received.
local QUESTION, WHOLE, HEAD, BODY, TOLD = byte('q'), byte('w'), byte('h'), byte('b'), byte('t')
local ASKS_HEAD, ASKS_BODY, LEAVING, FORM, ADMITTED, REFUSED = HEAD, BODY, byte('x'), byte('f'), byte('a'), byte('r')
-- Changes to an admitted request, by the first character of a line.
local REMOVE, SET, QUERY, ANSWER, TARGET, CONSUMER = byte('-'), byte('='), byte('?'), byte('+'), byte('>'), byte('@')
local PROOF = 'X-Tollgate-Context'

local function request_id()
  return ngx.var.kong_request_id or ngx.var.request_id or ''
end

-- The response if there is no verdict.
function lane.undecided()
  return {
    status = 503,
    headers = { ['Content-Type'] = 'application/problem+json', ['Cache-Control'] = 'no-store', ['Retry-After'] = '1' },
    body = '{"type":"about:blank","title":"Access check not possible","status":503,"detail":"The request could not be checked and was refused. '
      .. 'Try again shortly.","code":"access_layer_unavailable","request_id":"' .. request_id() .. '"}',
  }
end

local function u32(number)
  return band(number, 255), band(rshift(number, 8), 255), band(rshift(number, 16), 255), rshift(number, 24)
end

-- By address: the connections that take questions, and the report lines of admitted requests until they are sent.
local links, answered = {}, {}
-- Waiter objects for reuse.
local spare = {}

-- The lines may have arrived. A second report of a request is ignored.
local function put_back(place, lines)
  local waiting = answered[place] or {}
  answered[place] = waiting
  for index = 1, math.min(#lines, MAX_TOLD - #waiting) do
    waiting[#waiting + 1] = lines[index]
  end
end

-- Sent in parts: joining them would create one more string per question for LuaJIT to intern.
local function say(link, kind, id, parts)
  local outgoing, length = link.outgoing, 6
  for index = 1, #parts do
    length = length + #parts[index]
  end
  local first, a, b, c, d = #outgoing + 1, u32(length)
  outgoing[first] = char(a, b, c, d, VERSION, kind, u32(id))
  for index = 1, #parts do
    outgoing[first + index] = parts[index]
  end
  if first == 1 then
    link.wake:post()
  end
end

local function is_over(link)
  local now = ngx.now()
  return link.is_broken
    or (link.leaving or now > link.ends or ngx.worker.exiting()) and link.count == 0 and not answered[link.place]
      and (link.forms == 0 or now > link.ends + LINK_SECONDS)
end

-- Sends everything queued since the last call in one write. Returns the error if that fails.
local function write(link, socket)
  repeat
    link.wake:wait(TELL_SECONDS)
    local lines = answered[link.place]
    if lines and not link.is_broken then
      answered[link.place] = nil
      link.unheard[#link.unheard + 1] = lines
      say(link, TOLD, 0, lines)
    end
    local outgoing = link.outgoing
    if #outgoing > 0 then
      link.outgoing = {}
      local sent, failure = socket:send(outgoing)
      if not sent then
        link.is_broken = true
        return failure
      end
    end
  until is_over(link)
  link.is_broken = true
end

-- False if the connection must end: the server is leaving, or sent something no server sends.
local function hear(link, kind, id, text)
  local waiter = link.waiters[id]
  if kind == TOLD then
    return table.remove(link.unheard, 1)
  elseif kind == LEAVING and id == 0 then
    for _, unread in pairs(link.waiters) do
      unread.kind = unread.kind or LEAVING
    end
    return false
  elseif not waiter then
    -- The request no longer waits for it.
    return id > 0 and id <= link.asked
  elseif kind == FORM then
    waiter.form = text
    return true
  elseif waiter.kind then
    return false
  elseif kind == ADMITTED or kind == REFUSED or kind == LEAVING then
    link.waiters[id] = nil
  elseif kind ~= ASKS_HEAD and kind ~= ASKS_BODY then
    return false
  end
  waiter.kind, waiter.text = kind, text
  waiter.wake:post()
  return true
end

local function read_frame(link, socket)
  local prefix = socket:receive(10)
  if not prefix then
    return false
  end
  local a, b, c, d, version, kind, e, f, g, h = byte(prefix, 1, 10)
  local length = a + 256 * (b + 256 * (c + 256 * d))
  local text = version == VERSION and length >= 6 and length <= MAX_BYTES and socket:receive(length - 6)
  return text and hear(link, kind, e + 256 * (f + 256 * (g + 256 * h)), text)
end

local function read(link, socket)
  while read_frame(link, socket) do
  end
  link.is_broken = true
end

local function open(place)
  local socket = tcp()
  socket:settimeouts(CONNECT_MS, SEND_MS, 2 * LINK_SECONDS * 1000)
  return socket:connect(place) and socket
end

-- The whole life of a connection, in a timer: only the request that opens a connection could use it otherwise.
local function run(_, link)
  local socket = open(link.place)
  if socket then
    local reading, writing = thread.spawn(read, link, socket), thread.spawn(write, link, socket)
    local _, failure = thread.wait(reading, writing)
    if failure and failure ~= 'timeout' then
      -- The server closed the connection, perhaps after announcing that it leaves.
      thread.wait(reading)
    end
    thread.kill(reading)
    thread.kill(writing)
    socket:close()
  end
  link.is_broken = true
  for _, lines in ipairs(link.unheard) do
    put_back(link.place, lines)
  end
  -- The waiting requests get no verdict, unless the server reported that it has not read the question.
  for _, waiter in pairs(link.waiters) do
    waiter.wake:post()
  end
end

local function takes_questions(link)
  return not link.is_broken and not link.leaving and ngx.now() <= link.ends
end

-- A connection for one more question: the first that is not crowded, or a new one, or the least crowded.
local function pick(place)
  local known = links[place] or {}
  local best = known[1]
  if best and best.count < CROWD and takes_questions(best) then
    return best
  end
  local open_links = {}
  links[place], best = open_links, nil
  for _, link in ipairs(known) do
    if takes_questions(link) then
      open_links[#open_links + 1] = link
      if not best or best.count >= CROWD and link.count < best.count then
        best = link
      end
    end
  end
  if best and (best.count < CROWD or #open_links == MAX_LINKS) then
    return best.count < MAX_WAITING / MAX_LINKS and best
  end
  local link = {
    place = place, wake = semaphore.new(), ends = ngx.now() + LINK_SECONDS,
    outgoing = {}, waiters = {}, unheard = {}, asked = 0, count = 0, forms = 0,
  }
  if not timer_at(0, run, link) then
    return best
  end
  open_links[#open_links + 1] = link
  return link
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

-- nginx itself only limits the pause between two pieces.
local function read_form(patience_ms)
  -- From HTTP/2 on there is no such socket, and requesting one is an error.
  if req.http_version() >= 2 then
    req.read_body()
    return true
  end
  local client = assert(req.socket())
  local missing, deadline = tonumber(ngx.var.content_length), ngx.now() + patience_ms / 1000
  req.init_body()
  while missing > 0 do
    client:settimeout(math.max((deadline - ngx.now()) * 1000, 1))
    local piece = client:receiveany(math.min(missing, PIECE))
    if not piece then
      return false
    end
    req.append_body(piece)
    missing = missing - #piece
  end
  req.finish_body()
  return true
end

local function body(route)
  if not read_form(tonumber(route:match('form_key_timeout_ms=(%d+)')) or FORM_MS) then
    return nil
  end
  local path = req.get_body_file()
  local file = path and assert(io.open(path, 'rb'))
  local text = file and file:read('*a') or req.get_body_data() or ''
  if file then
    file:close()
  end
  return { text }
end

local function ask(link, id, route)
  -- The variable lacks headers that only the route names.
  local variable = lane.shows_repeated and not find(route, 'header:', 1, true) and ngx.var.tollgate_request
  if variable then
    say(link, QUESTION, id, { route, '\n', variable })
  else
    say(link, WHOLE, id, head(route .. '\n'))
  end
end

-- While a form arrives, its request is not counted: nginx may end a request whose client left without running its Lua
-- again.
local function hand_over_form(link, id, route)
  link.count, link.forms = link.count - 1, link.forms + 1
  local read, form = pcall(body, route)
  link.count, link.forms = link.count + 1, link.forms - 1
  if read and form then
    say(link, BODY, id, form)
  end
  return read and form
end

-- Loops until there is a verdict, or none can be had.
local function converse(link, id, route, waiter)
  ask(link, id, route)
  while true do
    if not waiter.wake:wait(VERDICT_SECONDS) then
      -- The connection cannot give verdicts to other requests either.
      link.is_broken = true
      link.wake:post()
      return nil
    end
    local kind = waiter.kind
    waiter.kind = nil
    if kind == ASKS_HEAD then
      say(link, HEAD, id, head(''))
    elseif kind ~= ASKS_BODY then
      return kind
    elseif not hand_over_form(link, id, route) then
      return BODY
    end
  end
end

local function exchange(place, route, again)
  local link = pick(place)
  if not link then
    return nil
  end
  local id, waiter = link.asked + 1, table.remove(spare) or { wake = semaphore.new() }
  link.asked, link.count, link.waiters[id] = id, link.count + 1, waiter
  local _, kind = pcall(converse, link, id, route, waiter)
  link.waiters[id], link.count = nil, link.count - 1
  if kind == BODY then
    -- Closes the connection with the request, because the rest of the body must not be parsed as another request.
    return ngx.exit(ngx.HTTP_REQUEST_TIMEOUT)
  elseif kind == LEAVING and not again then
    -- The server is being replaced and has not read the question.
    link.leaving = true
    return exchange(place, route, true)
  end
  local text, form = waiter.text, waiter.form
  if text then
    -- It was woken once, for this. A second wake-up would wake the next request too early.
    waiter.text, waiter.form = nil, nil
    spare[#spare + 1] = waiter
  end
  return kind, text, form
end

-- The headers by which Kong's authentication plugins name the caller to the service.
local function name_consumer(id, rest)
  local colon = find(rest, ':', 1, true)
  local credential, username = sub(rest, 1, colon - 1), sub(rest, colon + 1)
  req.set_header('X-Consumer-ID', id)
  req.set_header('X-Consumer-Username', username)
  req.set_header('X-Credential-Identifier', credential)
  return { id = id, username = username, credential = credential }
end

-- Each line is a change, and its first character is the kind. The last line is the request's id, not a change.
local function admit(text, form, route)
  local verdict, proved, from = {}, false, 1
  local stop = find(text, '\n', from, true)
  while stop do
    local what, colon = byte(text, from), find(text, ':', from, true)
    if what == REMOVE then
      req.clear_header(sub(text, from + 1, stop - 1))
    elseif what == QUERY then
      verdict.query = sub(text, from + 1, stop - 1)
      req.set_uri_args(verdict.query)
    elseif colon and colon < stop then
      local name, value = sub(text, from + 1, colon - 1), sub(text, colon + 1, stop - 1)
      if what == SET then
        req.set_header(name, value)
        proved = proved or name == PROOF and #value > 0
      elseif what == ANSWER then
        verdict.answer = verdict.answer or {}
        verdict.answer[name] = value
      elseif what == TARGET then
        verdict.host, verdict.port = value, tonumber(name)
      elseif what == CONSUMER then
        verdict.consumer = name_consumer(name, value)
      else
        error('an unknown change')
      end
    else
      error('an unknown change')
    end
    from = stop + 1
    stop = find(text, '\n', from, true)
  end
  if form then
    req.set_body_data(form)
  end
  -- A route that does not enforce admits a request without a proof.
  return (proved or find(route, ';enforce=false', 1, true)) and verdict
end

local function refuse(text)
  local stop = find(text, '\n', 1, true)
  local verdict = { status = tonumber(sub(text, 1, stop - 1)), headers = {} }
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
  local kind, text, form = exchange(place, route)
  local id = request_id()
  -- Whatever was mixed up on the way, a verdict applies only to its own request.
  if not text or id == '' or text ~= id and sub(text, -#id - 1) ~= '\n' .. id then
    return nil
  end
  return kind == ADMITTED and admit(text, form, route) or kind == REFUSED and refuse(text)
end

-- Asks about the running request. If the verdict has a `status`, send that response and let nothing reach the service.
-- Otherwise the request was admitted and changed: `answer` holds headers for the caller, if any; `host` and `port`
-- replace its target; `consumer` names the caller if the route asks for it. `place` is unix:PATH; `route` is products
-- and settings: api-a,api-b;key_in=x-api-key
function lane.ask(place, route)
  local asked, verdict = pcall(decide, place, route)
  return asked and verdict or lane.undecided()
end

-- For the log phase of an admitted request: reports its response to the plugin server
-- (plugins/core/access/answer-line.ts), with the next question or soon. No request waits for it. Without a header time,
-- the API sent no response. The units are the first cost that the API reports, if no longer than a number can be: an
-- API must not make the shared frame too long.
function lane.tell(place)
  local var, waiting = ngx.var, answered[place] or {}
  answered[place] = waiting
  if #waiting < MAX_TOLD then
    local units = (var.upstream_http_x_units or ''):match('^[^,]+')
    waiting[#waiting + 1] = request_id() .. ' ' .. var.status .. ' ' .. var.request_time .. ' ' .. var.body_bytes_sent .. ' '
      .. (var.upstream_header_time or '-') .. (units and #units <= UNITS_LONGEST and ' units=' .. units or '') .. '\n'
  end
  local link = (links[place] or {})[1]
  if not (link and takes_questions(link)) then
    pick(place)
  end
end

return lane
