import type { FastifyReply } from 'fastify';
import { closeConnection, neverAnswer, type SandboxExample, type SandboxUpstream } from '../sandbox-upstream';

/** PINs below 999 belong to no public post office, so they can stand for outcomes. */
const MISSING = '999404';
const MISSING_BY_STATUS = '999405';
const NOT_JSON = '999500';
const DOWN = '999502';
/** Like {@link DOWN}, but another provider has the code. */
const DOWN_HERE = '999512';
const CLOSED = '999503';
const SILENT = '999504';
const OVER_QUOTA = '999429';

function example(outcome: string, pin: string, yields: string): SandboxExample {
  return { product: 'api-pincode', route: '/pincode', method: 'GET', outcome, input: { country: 'IN', pin }, yields };
}

const examples: readonly SandboxExample[] = [
  example('success', '110001', '200, the post offices of New Delhi 110001; also 400001, 560001, 600001, 700001, 500001'),
  example('success_by_name', 'Connaught Place', '200, the post offices whose name contains the text'),
  {
    ...example('success_normal', '110001', '200, the same post offices in the form that is the same for every provider'),
    input: { country: 'IN', pin: '110001', format: 'normal' },
  },
  {
    ...example('success_by_fallback', DOWN_HERE, '200, from sandbox_zippopotam.us: the provider for India answers 502'),
    input: { country: 'IN', pin: DOWN_HERE, format: 'normal' },
  },
  example('no_records', MISSING, '404 provider_error, reason no_records; so does any PIN or name that the sandbox does not know'),
  example('no_records_by_status', MISSING_BY_STATUS, '404 provider_error, reason no_records: the provider says Status "404"'),
  example('bad_response', NOT_JSON, '502 provider_error, reason bad_response: the provider answers with a web page'),
  example('provider_down', DOWN, '502 provider_error, reason unreachable: the provider answers 502'),
  example('provider_closes', CLOSED, '502 provider_error, reason unreachable: the provider closes the connection'),
  example('provider_quota', OVER_QUOTA, '502 provider_error, reason provider_quota: the provider answers 429'),
  example('timeout', SILENT, '504 provider_error, reason timeout: the provider never answers'),
];

function found(offices: readonly PostOffice[], message: string): unknown {
  if (offices.length === 0) return [{ Message: 'No records found', Status: 'Error', PostOffice: null }];
  return [{ Message: message, Status: 'Success', PostOffice: offices }];
}

function answerPin(pin: string, reply: FastifyReply): unknown {
  switch (pin) {
    case MISSING_BY_STATUS:
      return [{ Message: 'The requested resource is not found', Status: '404', PostOffice: null }];
    case NOT_JSON:
      return reply.type('text/html').send('<!DOCTYPE html><title>Maintenance</title>');
    case DOWN:
    case DOWN_HERE:
      return reply.code(502).type('text/html').send('<h1>502 Bad Gateway</h1>');
    case CLOSED:
      return closeConnection(reply);
    case SILENT:
      return neverAnswer(reply);
    case OVER_QUOTA:
      return reply.code(429).send('Too Many Requests');
    default: {
      const offices = POST_OFFICES.filter((office) => office.Pincode === pin);
      return found(offices, `Number of pincode(s) found:${offices.length}`);
    }
  }
}

/** postalpincode.in. */
export function createPostalpincode(): SandboxUpstream {
  return {
    name: 'postalpincode',
    examples,
    routes(app) {
      app.get<{ Params: { pin: string } }>('/pincode/:pin', (request, reply) => answerPin(request.params.pin, reply));
      app.get<{ Params: { name: string } }>('/postoffice/:name', (request) => {
        const wanted = request.params.name.trim().toLowerCase();
        const offices = POST_OFFICES.filter((office) => office.Name.toLowerCase().includes(wanted));
        return found(offices, `Number of Post office(s) found: ${offices.length}`);
      });
    },
  };
}

/** One post office as postalpincode.in lists it. Trailing spaces in names and missing blocks are the provider's own. */
interface PostOffice {
  readonly Name: string;
  readonly Description: null;
  readonly BranchType: string;
  readonly DeliveryStatus: string;
  readonly Circle: string;
  readonly District: string;
  readonly Division: string;
  readonly Region: string;
  readonly Block?: string;
  readonly State: string;
  readonly Country: 'India';
  readonly Pincode: string;
}

interface Area {
  readonly pin: string;
  readonly circle: string;
  readonly district: string;
  readonly division: string;
  readonly region: string;
  readonly block: string | undefined;
  readonly state: string;
  /** Name, branch type and delivery of each office. */
  readonly offices: readonly (readonly [name: string, branch: 'Head' | 'Sub' | 'Branch', delivers: boolean])[];
}

const BRANCH_TYPES = { Head: 'Head Post Office', Sub: 'Sub Post Office', Branch: 'Branch Post Office' } as const;

const AREAS: readonly Area[] = [
  {
    pin: '110001',
    circle: 'Delhi',
    district: 'Central Delhi',
    division: 'New Delhi Central',
    region: 'Delhi',
    block: 'New Delhi',
    state: 'Delhi',
    offices: [
      ['Baroda House', 'Sub', false],
      ['Bengali Market', 'Sub', false],
      ['Connaught Place', 'Sub', false],
      ['New Delhi ', 'Head', true],
      ['Parliament House', 'Sub', false],
      ['Supreme Court', 'Sub', false],
    ],
  },
  {
    pin: '400001',
    circle: 'Maharashtra',
    district: 'Mumbai',
    division: 'Mumbai  South',
    region: 'Mumbai',
    block: 'Mumbai',
    state: 'Maharashtra',
    offices: [
      ['Bazargate', 'Sub', false],
      ['Elephanta Caves Po', 'Branch', true],
      ['Mumbai G.P.O. ', 'Head', true],
      ['Stock Exchange', 'Sub', false],
      ['Town Hall ', 'Sub', false],
    ],
  },
  {
    pin: '560001',
    circle: 'Karnataka',
    district: 'Bangalore',
    division: 'Bangalore East',
    region: 'Bangalore HQ',
    block: 'Bangalore North',
    state: 'Karnataka',
    offices: [
      ['Bangalore G.P.O. ', 'Head', true],
      ['Highcourt', 'Sub', false],
      ['Mahatma Gandhi Road', 'Sub', false],
      ['Vidhana Soudha', 'Sub', false],
    ],
  },
  {
    pin: '600001',
    circle: 'Tamilnadu',
    district: 'Chennai',
    division: 'Chennai GPO',
    region: 'Chennai City',
    block: undefined,
    state: 'Tamil Nadu',
    offices: [
      ['Chennai G.P.O. ', 'Head', true],
      ['Flower Bazaar', 'Sub', true],
      ['Mannady ', 'Sub', true],
    ],
  },
  {
    pin: '700001',
    circle: 'West Bengal',
    district: 'Kolkata',
    division: 'Kolkata GPO',
    region: 'Calcutta',
    block: 'Kolkata',
    state: 'West Bengal',
    offices: [
      ['Kolkata G.P.O. ', 'Head', true],
      ['Lalbazar', 'Sub', false],
    ],
  },
  {
    pin: '500001',
    circle: 'Telangana',
    district: 'Hyderabad',
    division: 'Hyderabad City',
    region: 'Hyderabad City',
    block: 'Nampally',
    state: 'Telangana',
    offices: [
      ['Hyderabad G.P.O. ', 'Head', true],
      ['Gandhi Bhawan', 'Sub', false],
    ],
  },
];

/** All post offices of the sandbox, with members in the provider's order. */
const POST_OFFICES: readonly PostOffice[] = AREAS.flatMap((area) =>
  area.offices.map(([name, branch, delivers]) => ({
    Name: name,
    Description: null,
    BranchType: BRANCH_TYPES[branch],
    DeliveryStatus: delivers ? 'Delivery' : 'Non-Delivery',
    Circle: area.circle,
    District: area.district,
    Division: area.division,
    Region: area.region,
    ...(area.block !== undefined && { Block: area.block }),
    State: area.state,
    Country: 'India' as const,
    Pincode: area.pin,
  })),
);
