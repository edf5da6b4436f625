const INDEX = 'Lists the endpoints of the product.';
const HEALTH = 'Says whether the product and its workers can answer now.';
const PIECES = 'Send the `sessionId` of the step before.';

/** What each route does and answers, in Markdown, by path. */
export const DESCRIPTIONS: Readonly<Record<string, string>> = {
  '/aadhaar': INDEX,
  '/aadhaar/start':
    'Opens a session for one Aadhaar number and answers with its `sessionId` and a captcha. The session ends after ten minutes.',
  '/aadhaar/captcha': `Sends what the captcha shows. If it is right, the holder of the number receives a one-time password. ${PIECES}`,
  '/aadhaar/otp': `Sends the one-time password and answers with the record of its holder. The number itself stays masked. ${PIECES}`,
  '/app': INDEX,
  '/app/analyze':
    'Reads an Android package without running it: its manifest, permissions, components, signatures, code, trackers and secrets. Answers with findings and a risk from 0 to 100.',
  '/app/compare':
    'Compares the reports of two versions of an app, as `/app/analyze` answered them. Says what was added, removed and changed, and how the risk moved.',
  '/app/health': HEALTH,
  '/background_remover': 'Names the route that took the place of this one: `/image/background_remover`.',
  '/gdplay': INDEX,
  '/gdplay/link': 'Makes a signed link to `/gdplay/stream` for one file. A player can open it without a key until it ends.',
  '/gdplay/stream':
    'Plays a video or audio file from Google Drive. Takes `Range`, `If-Range`, `If-None-Match` and `HEAD`, so that players can seek.',
  '/gdplay/thumbnail': 'Answers with a still picture of a file at Google Drive, or with `format=json` with what is known of the file.',
  '/glead': INDEX,
  '/glead/health': HEALTH,
  '/glead/search': 'Finds businesses of one kind in an area, with their contacts. `next_page_token` leads to the next page.',
  '/grank': INDEX,
  '/grank/health': HEALTH,
  '/grank/search': 'Answers with the ranking of places for a keyword around a point, in the order of the source.',
  '/grank/position':
    'Finds one business in the ranking for a keyword around a point, and the competitors above it. A business that is not in the ranking is `found: false`, not an error.',
  '/grank/grid': 'Asks for the position of one business at each point of a grid of 3, 5 or 7 points a side, to show where it ranks well.',
  '/grank/history': 'Compares the answers of `/grank/grid` that you kept: how the position of a business moved at each point.',
  '/gst': INDEX,
  '/gst/start': 'Opens a session and answers with its `sessionId` and a captcha.',
  '/gst/data': `Sends a registration number with what the captcha shows, and answers with the registration. ${PIECES}`,
  '/gst/refresh_captcha': `Answers with another captcha for the same session. ${PIECES}`,
  '/api/v1/gst/refresh-captcha': 'The same as `/gst/refresh_captcha`, under another path.',
  '/image/background_remover':
    'Cuts out the foreground of a picture. Answers with a PNG whose background is transparent, in base64 or, if `Accept` asks for it, as the picture itself.',
  '/ip': 'Says where an IP address is, whose network it is in, and how risky and how static it is.',
  '/pincode':
    'Finds the post offices of a postal code. Answers with the JSON of the source as it is, or with `format=normal` in one form for all countries.',
  '/seo': INDEX,
  '/seo/authority': 'Measures the authority of a domain or page. Each figure says its source and whether it is an estimate.',
  '/seo/backlinks': 'Finds pages that may link to the target, reads them, and says which do.',
  '/seo/health': HEALTH,
  '/seo/keywords': 'Suggests what people search for besides a keyword.',
  '/seo/link_pyramid': 'Sorts pages that link to a target into three tiers by their risk of spam.',
  '/seo/serp': 'Answers with organic search results for a country and a language.',
  '/seo/spam': 'Scores a page, or the start page of a domain, from 0 to 100 for spam, with each signal behind it.',
  '/vahaan': INDEX,
};
