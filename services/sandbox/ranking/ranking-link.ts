import { type WebSocket } from 'ws';
import { z } from 'zod';
import { addressAt, DEFAULT_POINT, locate, MAGIC_KEYWORDS, magicIn, type SandboxBusiness, typeFor } from './places-businesses';
import { businessesAt, failsAt } from './places-landmark';
import { type SandboxUpstream } from '../sandbox-upstream';

/** The parameters are beside `type` and `id`, with their public names. */
const question = z.object({
  type: z.literal('rank'),
  id: z.string().min(1),
  operation: z.enum(['search', 'position']).default('search'),
  keyword: z.string().min(1),
  latitude: z.number().default(DEFAULT_POINT.latitude),
  longitude: z.number().default(DEFAULT_POINT.longitude),
  business_name: z.string().optional(),
  place_id: z.string().optional(),
  max_results: z.number().int().min(1).default(20),
});

type Question = z.output<typeof question>;

function resultOf(business: SandboxBusiness, index: number, asked: Question): Record<string, unknown> {
  const { id, name, rating, reviews, phone, website, status } = business;
  const { area, phonePrefix } = addressAt(asked);
  return {
    position: index + 1,
    place_id: id,
    name,
    address: `Sandbox Road, ${area}`,
    ...locate(business, asked),
    rating: rating ?? null,
    reviews: reviews ?? null,
    phone: phone === undefined ? null : `${phonePrefix}${phone}`,
    website: website ?? null,
    types: [typeFor(asked.keyword)],
    business_status: status,
  };
}

/** This upstream ignores only case when it compares names. */
function bodyOf(asked: Question): Record<string, unknown> {
  const { operation, keyword, business_name: wanted, place_id: wantedId, max_results: most } = asked;
  const ranked = businessesAt(keyword, asked).slice(0, most);
  const shared = { ok: true, source: 'sandbox_ranking', query: { keyword } };
  if (operation === 'search')
    return { ...shared, count: ranked.length, results: ranked.map((each, index) => resultOf(each, index, asked)) };
  const index = ranked.findIndex(({ id, name }) => id === wantedId || name.toLowerCase() === wanted?.toLowerCase());
  const match = ranked[index];
  return {
    ...shared,
    found: match !== undefined,
    position: match ? index + 1 : null,
    checked: ranked.length,
    match: match ? { place_id: match.id, name: match.name } : null,
  };
}

function respond(socket: WebSocket, asked: Question): void {
  const { id, keyword } = asked;
  switch (magicIn(keyword)) {
    case MAGIC_KEYWORDS.timeout:
      return;
    case MAGIC_KEYWORDS.closed:
      return socket.terminate();
    case MAGIC_KEYWORDS.notJson:
      return socket.send(JSON.stringify({ type: 'result', id, body: { results: [] } }));
    case MAGIC_KEYWORDS.upstreamError:
    case MAGIC_KEYWORDS.overQuota:
    case MAGIC_KEYWORDS.refused:
      return socket.send(JSON.stringify({ type: 'error', id, message: 'the ranking workflow failed' }));
    default:
      if (failsAt(keyword, asked)) return socket.send(JSON.stringify({ type: 'error', id, message: 'the ranking workflow failed here' }));
      socket.send(JSON.stringify({ type: 'result', id, body: bodyOf(asked) }));
  }
}

function serve(socket: WebSocket): void {
  socket.on('error', () => undefined);
  socket.on('message', (data: Buffer) => {
    let value: unknown;
    try {
      value = JSON.parse(data.toString('utf8'));
    } catch {
      return socket.send(JSON.stringify({ type: 'error', message: 'the message is not JSON' }));
    }
    const asked = question.safeParse(value);
    if (asked.success) return respond(socket, asked.data);
    const { id } = z
      .object({ id: z.string().optional().catch(undefined) })
      .catch({})
      .parse(value);
    socket.send(JSON.stringify({ type: 'error', id, message: 'the message cannot be understood' }));
  });
}

/** The ranking WebSocket, which does all the work itself. It has the same inputs with outcomes as the places. */
export function createRankingLink(): SandboxUpstream {
  return { name: 'ranking', examples: [], webSockets: { '/link': serve } };
}
