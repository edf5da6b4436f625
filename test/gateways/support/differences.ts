import { type RealGateway } from './every-gateway';

const FORM =
  'the access layer is asked without the body, so that nobody’s upload is kept before its key is known: no key is found in a form';
const FORM_TESTS = {
  'a key is taken from an urlencoded form': FORM,
  'a key is taken from a multipart form': FORM,
  'a key is taken from a form too large for memory, up to the limit': FORM,
  'a request without a usable key is a 401 with a challenge with a repeated form field: ambiguous_key': FORM,
};
const TWO_AUTHORIZATIONS = {
  'a request without a usable key is a 401 with a challenge with a repeated Authorization the request is refused before the access layer sees it: nginx reads one':
    'the gateway passes on both, and the access layer refuses them itself: 401 ambiguous_key in place of 400',
};
const LENGTH_AND_CHUNKS = {
  'bytes that two servers could read differently are refused as 400 and never reach a product: Content-Length beside Transfer-Encoding':
    'the gateway drops the Content-Length, as RFC 9112 allows, and frames the body anew: the product reads the same body',
};

/** Kong's default router, of the recordings, takes neither path for a route of the product. */
const TRADITIONAL = 'router_flavor = traditional matches with PCRE, where `$` also stands before a line feed: the service answers';
const ROUTER =
  process.env['KONG_ROUTER_FLAVOR'] === 'traditional'
    ? {
        'a raw request is answered as Kong 3.9.3 answers it utf8': TRADITIONAL,
        'a raw request is answered as Kong 3.9.3 answers it newline': TRADITIONAL,
      }
    : {};

/** Tests of the acceptance suite that fail on a gateway, by their full names, each with the reason. docs/gateways.md tells customers the same. */
export const DIFFERENCES: Readonly<Record<RealGateway, Readonly<Record<string, string>>>> = {
  nginx: FORM_TESTS,
  'nginx-lua': {},
  caddy: { ...FORM_TESTS, ...TWO_AUTHORIZATIONS, ...LENGTH_AND_CHUNKS },
  haproxy: {
    ...FORM_TESTS,
    ...TWO_AUTHORIZATIONS,
    ...LENGTH_AND_CHUNKS,
    'routes below a product exist only behind the key':
      'routes are chosen by the path as it was sent: one with empty or dot segments is no route, 404 in place of 401',
  },
  kong: ROUTER,
  'kong-lane': ROUTER,
};
