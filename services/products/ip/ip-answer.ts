import { z } from 'zod';

const place = z.object({
  latitude: z.number().nullable().describe('Degrees; negative is south. Null if the source has none.'),
  longitude: z.number().nullable().describe('Degrees; negative is west. Null if the source has none.'),
  accuracy_radius_km: z
    .number()
    .nullable()
    .describe('Possible distance from the true place. Null with the shipped data, which does not say.'),
  time_zone: z.string().nullable().describe('IANA name, for example `Asia/Kolkata`; taken from the coordinates if the source names none.'),
  district: z.string().nullable().describe('Part of the city; null if the source has none.'),
  region: z.string().nullable().describe('State, province or similar; null if the source has none.'),
  postal_code: z.string().nullable().describe('Null if the source has none.'),
  country_name: z.string().nullable().describe('In English; null if the source has none.'),
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
    'Null if the flag is not. `reserved_address`: no source is asked about such an address. `not_configured`: no list or file that could ' +
      'know is configured. `unknown_to_source`: one is configured, but does not have the address and is not complete.',
  );
export type FlagReason = NonNullable<z.output<typeof flagReason>>;
/** Null if no source was asked that would know. */
const flag = z.boolean().nullable();

const WHY_NULL =
  'Null if the score is not. `reserved_address`: no source is asked about such an address. `not_configured`: no source that could know is ' +
  'configured. `sources_failed`: the sources that could know did not respond. `unknown_to_source`: they responded and know nothing.';

const INPUTS =
  'Sources that could have known: `asn_list`, `anonymity`, `dnsbl`, `abuseipdb`, `reverse_dns`, `carrier`, `maxmind`, and the lists that have the address.';

/** The first thirteen members are the customer's specification, part 2.8. */
const specified = {
  ip: z.string().describe('The address in its usual form; a v4-mapped IPv6 address becomes its IPv4 address.'),
  is_valid: z.boolean().describe('Always true: a text that is not an address is refused with 400, and in a batch has an entry of its own.'),
  version: z.union([z.literal(4), z.literal(6)]).describe('Version of the Internet Protocol.'),
  is_private: z.boolean().describe('Whether the address is for private networks, which route it among themselves.'),
  is_reserved: z.boolean().describe('Whether a registry excludes the address from the public internet. No source is then asked about it.'),
  is_loopback: z.boolean().describe('Whether the address names the machine itself.'),
  hostname: z
    .string()
    .nullable()
    .describe('Reverse name that points back to the address; null if there is none, or none arrived within a second.'),
  country: z.string().describe('Two-letter code (ISO 3166-1); empty when unknown.'),
  location: z.union([place, z.strictObject({})]).describe('Where the address is used; an empty object when unknown.'),
  city: z.string().describe('In English; empty if unknown, and for an anycast address, which is in many places.'),
  asn: z.string().describe('Number of the network that announces the address, for example `AS15169`; empty when unknown.'),
  ip_risk: z
    .number()
    .min(0)
    .max(99)
    .nullable()
    .describe(
      'A rank, not a probability; higher is riskier. 0 means that the sources in `score_inputs` know nothing against the address. Null if ' +
        'nothing is known about it: see `score_reasons`.',
    ),
  static_ip_score: z
    .number()
    .min(0)
    .max(99.99)
    .nullable()
    .describe(
      'How permanent the assignment of the address looks: a rank; higher is more permanent. Null without evidence: see `score_reasons`.',
    ),
};

/** Body of `GET /ip`. */
export const ipAnswer = z
  .object({
    ...specified,
    as_org: z.string().describe('The organisation that runs the network `asn`; empty if unknown.'),
    as_type: z
      .enum(['hosting', 'isp', 'business', 'education'])
      .nullable()
      .describe('The kind of organisation of `as_org`; null if unknown.'),
    as_type_source: z
      .enum(['asn_list', 'as_org'])
      .nullable()
      .describe(
        '`asn_list`: a list of hosting networks. `as_org`: words of the name, such as Telecom, Bank or University. Null without a type.',
      ),
    network: z
      .string()
      .nullable()
      .describe('Largest CIDR block around this address that belongs to `asn` as a whole; null if `asn` is unknown.'),
    is_bogon: z
      .boolean()
      .describe(
        'Whether no packet can legitimately come from here: the address is reserved, or the ASN data has no network for it. The same applies to `embedded_ipv4`.',
      ),
    is_anycast: flag.describe('Whether the block responds from many places at once. Null without the list `anycast`.'),
    embedded_ipv4: z
      .object({
        ip: z.string().describe('The IPv4 address.'),
        by: z
          .enum(['nat64', '6to4'])
          .describe('`nat64`: in 64:ff9b::/96. `6to4`: in 2002::/16, which as a whole is reserved (`is_reserved`).'),
      })
      .meta({ title: 'IpEmbedded' })
      .nullable()
      .describe('The IPv4 address inside an IPv6 address, which is looked up instead; null for any other address.'),
    country_facts: z
      .object({
        continent: continent.describe('AF, AN, AS, EU, NA, OC or SA.'),
        currency: z.string().nullable().describe('Three letters (ISO 4217) of the currency in daily use; null if there is none.'),
        calling_code: z.string().nullable().describe('With a plus sign; null if there is none.'),
        is_eu: z.boolean().describe('Whether the country is a member of the European Union.'),
      })
      .nullable()
      .describe('Facts that follow from `country`; null if that is unknown.'),
    flags: z
      .object({
        hosting: flag.describe('The address belongs to a data centre or cloud.'),
        proxy_or_vpn: flag.describe('Other people’s traffic leaves through the address.'),
        tor_exit: flag.describe('Traffic of the Tor network leaves through the address.'),
        relay: flag.describe('A relay that hides the addresses of its users but keeps their region.'),
      })
      .describe('Each is true, false, or null if no source was asked that would know.'),
    flag_reasons: z
      .object({ hosting: flagReason, proxy_or_vpn: flagReason, tor_exit: flagReason, relay: flagReason })
      .describe('Why a flag is null.'),
    registration: z
      .object({
        company: z.string().nullable().describe('The company to which the address is registered; null if the registry names none.'),
        network_name: z.string().nullable().describe('Name of the network in the registry; null if it has none.'),
        abuse_email: z.string().nullable().describe('Email address for reporting abuse; null if the registry names none.'),
        abuse_phone: z.string().nullable().describe('Telephone number for reporting abuse; null if the registry names none.'),
      })
      .nullable()
      .describe(
        'The registry’s record of the address; null if the registry was not asked, did not respond or knows nothing: see `checked`.',
      ),
    risk_signals: z
      .array(
        z.object({
          id: z.string().describe('The evidence against the address.'),
          weight: z.number().min(0).max(1).describe('Share of the remaining doubt that the signal removes; 0 is for information only.'),
          source: z.string().describe('The file, list or service that says so.'),
        }),
      )
      .describe('The signals that make up a heuristic `ip_risk`: 100 · (1 − ∏(1 − weight)), at most 99.'),
    score_method: scoreMethod.nullable().describe('`maxmind` only if both scores are MaxMind’s; null if there is no score.'),
    score_methods: z
      .object({
        ip_risk: scoreMethod.nullable().describe('`maxmind`: from a file of MaxMind. `heuristic`: by this service. Null without a score.'),
        static_ip_score: scoreMethod
          .nullable()
          .describe('`maxmind`: from a file of MaxMind. `heuristic`: by this service. Null without a score.'),
      })
      .describe('The method of each score.'),
    score_reasons: z
      .object({ ip_risk: scoreReason.nullable().describe(WHY_NULL), static_ip_score: scoreReason.nullable().describe(WHY_NULL) })
      .describe('Why a score is null.'),
    score_inputs: z
      .object({ ip_risk: z.array(z.string()).describe(INPUTS), static_ip_score: z.array(z.string()).describe(INPUTS) })
      .describe('The sources of each score: the fewer, the less it means.'),
    checked: z
      .array(
        z.object({
          source: z.string().describe('Name of the source; `sandbox_…` if the sandbox replaces it.'),
          as_of: z.string().nullable().describe('Time when it was asked, or date of its data (RFC 3339); null for data without a date.'),
          ok: z.boolean().describe('Whether it responded.'),
          error: z
            .enum(['timeout', 'failed', 'paused'])
            .optional()
            .describe('Present if it did not respond; `paused`: left alone after consecutive failures.'),
        }),
      )
      .describe('Every source that was asked. Sources that are off, or that do not apply to a reserved address, are missing.'),
  })
  .describe(ATTRIBUTION);

export type IpAnswer = z.output<typeof ipAnswer>;
