-- The settings of the plugin access-layer (plugins/access-layer/config.ts; a test compares the two), and the plugin
-- server's socket.

local typedefs = require 'kong.db.schema.typedefs'

return {
  name = 'tollgate',
  fields = {
    { consumer = typedefs.no_consumer },
    { protocols = typedefs.protocols_http },
    {
      config = {
        type = 'record',
        fields = {
          { socket = { type = 'string', required = true, default = '/var/run/tollgate/lane.sock', match = '^/' } },
          { products = { type = 'array', required = true, len_min = 1, elements = { type = 'string' } } },
          { key_in = { type = 'array', required = true, len_min = 1, default = { 'authorization', 'x-api-key', 'query', 'form' }, elements = { type = 'string', match_any = { patterns = { '^authorization$', '^x%-api%-key$', '^query$', '^form$', '^header:[%w-]+$', '^query:[%w_-]+$' }, err = 'must be one of authorization, x-api-key, query, form, or header:NAME or query:NAME' } } } },
          { quota = { type = 'boolean', required = true, default = true } },
          { post_units = { type = 'integer', required = true, default = 1, between = { 1, 10000 } } },
          { on_quota_store_error = { type = 'string', required = true, default = 'deny', one_of = { 'deny', 'allow' } } },
          { form_key_max_bytes = { type = 'integer', required = true, default = 1048576 } },
          { form_key_timeout_ms = { type = 'integer', required = true, default = 5000, between = { 1, 25000 } } },
          { rate_limit_headers = { type = 'string', required = true, default = 'service', one_of = { 'service', 'gateway' } } },
          { enforce = { type = 'boolean', required = true, default = true } },
          { consumer = { type = 'boolean', required = true, default = false } },
        },
      },
    },
  },
}
