import { z } from 'zod';

const place = z.object({
  latitude: z.number().nullable().describe('Degrees; negative is south. Null where the source has none.'),
  longitude: z.number().nullable().describe('Degrees; negative is west. Null where the source has none.'),
  accuracy_radius_km: z.number().nullable().describe('How far off the place may be. Null with the data that ships, which does not say.'),
  time_zone: z.string().nullable().describe('IANA name, for example `Asia/Kolkata`; that of the coordinates where the source names none.'),
  district: z.string().nullable().describe('Part of the city; null where the source has none.'),
  region: z.string().nullable().describe('State, province or the like; null where the source has none.'),
  postal_code: z.string().nullable().describe('Null where the source has none.'),
  country_name: z.string().nullable().describe('In English; null where the source has none.'),
});

/** CC-BY-4.0 requires it wherever results from the shipped data are shown. */
const ATTRIBUTION =
  'City data: IP Geolocation by DB-IP (https://db-ip.com), CC-BY-4.0. ASN data: RouteViews, DB-IP and NRO by way of ip-location-db, ' +
  'CC-BY-4.0. Scores labelled heuristic are rankings, not probabilities.';

const scoreMethod = z.enum(['maxmind', 'heuristic']);
const continent = z.enum(['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA']);
const scoreReason = z.enum(['reserved_address', 'not_configured', 'sources_failed', 'unknown_to_source']);
const flagReason = z
  .enum(['reserved_address', 'not_configured', 'unknown_to_source'])
  .nullable()
  .describe(
    'Null where the flag is not. `reserved_address`: no source is asked about such an address. `not_configured`: no list or file that could ' +
      'know is set up. `unknown_to_source`: one is, it does not have the address, and it does not have all of today.',
  );
export type FlagReason = NonNullable<z.output<typeof flagReason>>;
/** Null if no source was asked that would know. */
const flag = z.boolean().nullable();

const WHY_NULL =
  'Null where the score is not. `reserved_address`: no source is asked about such an address. `not_configured`: no source that could know is ' +
  'set up. `sources_failed`: those that could know did not answer. `unknown_to_source`: they answered and know nothing.';

const INPUTS =
  'Sources that could have known: `asn_list`, `anonymity`, `dnsbl`, `abuseipdb`, `reverse_dns`, `carrier`, `maxmind`, and the lists that have the address.';

/** The first thirteen members are the customer's specification, part 2.8. */
const specified = {
  ip: z.string().describe('The address in its usual form; a v4-mapped IPv6 address is answered as its IPv4 address.'),
  is_valid: z.boolean().describe('True: what is no address is refused with 400, and in a batch has an entry of its own.'),
  version: z.union([z.literal(4), z.literal(6)]).describe('Of the Internet Protocol.'),
  is_private: z.boolean().describe('Whether the address is for private networks, which route it among themselves.'),
  is_reserved: z.boolean().describe('Whether a registry keeps the address from the public internet; then no source is asked about it.'),
  is_loopback: z.boolean().describe('Whether the address names the machine itself.'),
  hostname: z
    .string()
    .nullable()
    .describe('Reverse name that points back at the address; null where there is none, or none came within a second.'),
  country: z.string().describe('Two-letter code (ISO 3166-1); empty when unknown.'),
  location: z.union([place, z.strictObject({})]).describe('Where the address is used; an empty object when unknown.'),
  city: z.string().describe('In English; empty when unknown, and for an anycast address, which is in many places.'),
  asn: z.string().describe('Number of the network that announces the address, for example `AS15169`; empty when unknown.'),
  ip_risk: z
    .number()
    .min(0)
    .max(99)
    .nullable()
    .describe(
      'A rank, not a probability; higher is riskier. 0 says that the sources in `score_inputs` know nothing against the address. Null where ' +
        'nothing is known of it: see `score_reasons`.',
    ),
  static_ip_score: z
    .number()
    .min(0)
    .max(99.99)
    .nullable()
    .describe(
      'How lasting the assignment of the address looks: a rank; higher is more lasting. Null without evidence: see `score_reasons`.',
    ),
};

/** Body of `GET /ip`. */
export const ipAnswer = z
  .object({
    ...specified,
    as_org: z.string().describe('Who runs the network `asn`; empty when unknown.'),
    as_type: z
      .enum(['hosting', 'isp', 'business', 'education'])
      .nullable()
      .describe('What kind of organisation `as_org` is; null where nothing says.'),
    as_type_source: z
      .enum(['asn_list', 'as_org'])
      .nullable()
      .describe(
        '`asn_list`: a list of hosting networks. `as_org`: words of the name, such as Telecom, Bank or University. Null without a type.',
      ),
    network: z
      .string()
      .nullable()
      .describe('Largest block (CIDR) with this address in it that belongs to `asn` as a whole; null when `asn` is unknown.'),
    is_bogon: z
      .boolean()
      .describe(
        'Whether no packet can rightly come from here: the address is reserved, or the ASN data has no network for it. Of `embedded_ipv4` the same is asked.',
      ),
    is_anycast: flag.describe('Whether the block answers from many places at once. Null without the list `anycast`.'),
    embedded_ipv4: z
      .object({
        ip: z.string().describe('The IPv4 address.'),
        by: z.enum(['nat64', '6to4']).describe('`nat64`: in 64:ff9b::/96. `6to4`: in 2002::/16, which `is_reserved` as a whole.'),
      })
      .meta({ title: 'IpEmbedded' })
      .nullable()
      .describe('The IPv4 address that is part of an IPv6 address, and is what is looked up; null for any other.'),
    country_facts: z
      .object({
        continent: continent.describe('AF, AN, AS, EU, NA, OC or SA.'),
        currency: z.string().nullable().describe('Three letters (ISO 4217), of the one in daily use; null where there is none.'),
        calling_code: z.string().nullable().describe('With a plus sign; null where there is none.'),
        is_eu: z.boolean().describe('Whether the country is a member of the European Union.'),
      })
      .nullable()
      .describe('What follows from `country`; null when that is unknown.'),
    flags: z
      .object({
        hosting: flag.describe('The address belongs to a data centre or cloud.'),
        proxy_or_vpn: flag.describe('Traffic of others leaves through the address.'),
        tor_exit: flag.describe('Traffic of the Tor network leaves through the address.'),
        relay: flag.describe('A relay that hides the addresses of its users and keeps their region.'),
      })
      .describe('Each true, false, or null where no source was asked that would know.'),
    flag_reasons: z
      .object({ hosting: flagReason, proxy_or_vpn: flagReason, tor_exit: flagReason, relay: flagReason })
      .describe('Why a flag is null.'),
    registration: z
      .object({
        company: z.string().nullable().describe('Who the address is registered for; null where the registry names no company.'),
        network_name: z.string().nullable().describe('Name of the network in the registry; null where it has none.'),
        abuse_email: z.string().nullable().describe('Where to report abuse; null where the registry names no address.'),
        abuse_phone: z.string().nullable().describe('Where to report abuse; null where the registry names no number.'),
      })
      .nullable()
      .describe('What the registry of the address says; null when it was not asked, did not answer or knows nothing: see `checked`.'),
    risk_signals: z
      .array(
        z.object({
          id: z.string().describe('What speaks against the address.'),
          weight: z.number().min(0).max(1).describe('Share of the remaining doubt that the signal takes; 0 is for information only.'),
          source: z.string().describe('Which file, list or service said so.'),
        }),
      )
      .describe('What `ip_risk` is made of when it is a heuristic: 100 · (1 − ∏(1 − weight)), at most 99.'),
    score_method: scoreMethod.nullable().describe('`maxmind` only when both scores are MaxMind’s; null when there is none.'),
    score_methods: z
      .object({
        ip_risk: scoreMethod.nullable().describe('`maxmind` from a file of MaxMind, `heuristic` by this service; null without a score.'),
        static_ip_score: scoreMethod
          .nullable()
          .describe('`maxmind` from a file of MaxMind, `heuristic` by this service; null without a score.'),
      })
      .describe('How each score was made.'),
    score_reasons: z
      .object({ ip_risk: scoreReason.nullable().describe(WHY_NULL), static_ip_score: scoreReason.nullable().describe(WHY_NULL) })
      .describe('Why a score is null.'),
    score_inputs: z
      .object({ ip_risk: z.array(z.string()).describe(INPUTS), static_ip_score: z.array(z.string()).describe(INPUTS) })
      .describe('What each score rests on: the fewer, the less it says.'),
    checked: z
      .array(
        z.object({
          source: z.string().describe('Name of the source; `sandbox_…` where the sandbox stands in for it.'),
          as_of: z.string().nullable().describe('When it was asked, or when its data is from (RFC 3339); null for data without a date.'),
          ok: z.boolean().describe('Whether it answered.'),
          error: z
            .enum(['timeout', 'failed', 'paused'])
            .optional()
            .describe('Present when it did not; `paused`: left alone after failures in a row.'),
        }),
      )
      .describe('Every source that was asked. One that is off, or has no business with a reserved address, is missing.'),
  })
  .describe(ATTRIBUTION);

export type IpAnswer = z.output<typeof ipAnswer>;
