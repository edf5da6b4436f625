-- Tells the plugin server what an admitted request was answered with. Without a verdict there is no address ($tollgate_uri), and nothing to tell.

local var = ngx.var

if (var.tollgate_admitted_uri or '') ~= '' then
  pcall(require('lane').tell, var.tollgate_socket)
end
