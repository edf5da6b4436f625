-- Reports to the plugin server the response to an admitted request, and the 503 that nginx sent because it got no
-- readable verdict. A refused request has no address ($tollgate_uri) and nothing to report.

local var = ngx.var

if (var.tollgate_admitted_uri or '') ~= '' or (var.tollgate_socket or '') ~= '' and ngx.status >= 500 then
  pcall(require('lane').tell, var.tollgate_socket)
end
