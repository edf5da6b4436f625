-- The lane in the form in which people install plugins of Kong: `luarocks make` in this folder, on Kong's machine. Then
-- enable it: plugins = bundled,tollgate.
rockspec_format = '3.0'
package = 'kong-plugin-tollgate'
version = '0.1.0-1'
source = { url = 'file://.' }
description = {
  summary = "Asks Tollgate's plugin server about each request",
  license = 'proprietary',
}
dependencies = { 'lua >= 5.1' }
build = {
  type = 'builtin',
  modules = {
    ['kong.plugins.tollgate.handler'] = 'handler.lua',
    ['kong.plugins.tollgate.lane'] = 'lane.lua',
    ['kong.plugins.tollgate.schema'] = 'schema.lua',
  },
}
