-- Tollgate's access layer in Kong, which takes one exchange per request. Mount this folder as kong/plugins/tollgate
-- below a folder of lua_package_path, and enable it: plugins = bundled,tollgate. It takes the configuration of the
-- plugin access-layer.

local lane = require 'kong.plugins.tollgate.lane'

-- Runs after Kong's bot detection and CORS, and before anything that works on an admitted request.
local Tollgate = { VERSION = '0.1.0', PRIORITY = 1005 }

local SETTINGS = {
  'key_in', 'quota', 'post_units', 'on_quota_store_error', 'form_key_max_bytes', 'form_key_timeout_ms', 'rate_limit_headers',
  'enforce', 'consumer',
}

-- Settings by configuration table; Kong makes a new table when kong.yml is read again.
local routes = setmetatable({}, { __mode = 'k' })

local function describe(conf)
  local parts = { table.concat(conf.products, ',') }
  for _, name in ipairs(SETTINGS) do
    local value = conf[name]
    parts[#parts + 1] = name .. '=' .. (type(value) == 'table' and table.concat(value, ',') or tostring(value))
  end
  return table.concat(parts, ';')
end

local function ask(conf)
  local route = routes[conf]
  if not route then
    route = describe(conf)
    routes[conf] = route
  end
  local verdict = lane.ask('unix:' .. conf.socket, route)
  if verdict.answer then
    kong.response.set_headers(verdict.answer)
  end
  if verdict.host then
    kong.service.set_target(verdict.host, verdict.port)
  end
  local consumer = verdict.consumer
  if consumer then
    kong.client.authenticate(
      { id = consumer.id, username = consumer.username },
      { id = consumer.credential, consumer_id = consumer.id }
    )
  end
  return verdict
end

function Tollgate:access(conf)
  local asked, verdict = pcall(ask, conf)
  if not asked then
    verdict = lane.undecided()
  end
  -- Must be outside pcall, because Kong ends the request from in here.
  if verdict.status then
    return kong.response.exit(verdict.status, verdict.body, verdict.headers)
  end
  ngx.ctx.tollgate_admitted = true
end

-- Reports the responses to admitted requests, and Kong's own if it got no readable verdict.
function Tollgate:log(conf)
  if ngx.ctx.tollgate_admitted or ngx.status >= 500 then
    pcall(lane.tell, 'unix:' .. conf.socket)
  end
end

return Tollgate
