-- Tells the plugin server what an admitted request was answered with, and where nginx got no verdict that it could read. A request that was refused has no
-- address ($tollgate_uri), and nothing to tell.

local var = ngx.var

if (var.tollgate_admitted_uri or '') ~= '' or (var.tollgate_socket or '') ~= '' and ngx.status >= 500 then
  pcall(require('lane').tell, var.tollgate_socket)
end
