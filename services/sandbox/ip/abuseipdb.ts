import { parseIpAddress } from '../../../plugins/core/access/ip-address';
import { ALL_HOSTS, HOSTS } from './internet-hosts';
import { type SandboxExample, type SandboxUpstream } from '../sandbox-upstream';

const examples: readonly SandboxExample[] = [
  {
    product: 'api-ip',
    route: '/ip',
    method: 'GET',
    outcome: 'abuse_reported',
    input: { ip: HOSTS.abusive.address },
    yields: '200, risk signal abuse_reports: ip_risk 90',
  },
  {
    product: 'api-ip',
    route: '/ip',
    method: 'GET',
    outcome: 'tor_exit',
    input: { ip: HOSTS.tor.address },
    yields: '200, risk signals tor_exit and abuse_reports: ip_risk 93.1',
  },
];

function failure(status: number, detail: string): unknown {
  return { errors: [{ detail, status }] };
}

function reportOf(text: string): unknown {
  const address = parseIpAddress(text);
  if (!address) return undefined;
  const host = ALL_HOSTS.find((each) => each.address === address.text);
  const score = host?.abuseScore ?? 0;
  return {
    data: {
      ipAddress: address.text,
      isPublic: true,
      ipVersion: address.version,
      isWhitelisted: score > 0 ? false : null,
      abuseConfidenceScore: score,
      countryCode: 'US',
      usageType: 'Data Center/Web Hosting/Transit',
      isp: 'Sandbox',
      domain: 'sandbox.example',
      hostnames: host?.resolves ?? [],
      isTor: host?.tor ?? false,
      totalReports: score,
      numDistinctUsers: Math.ceil(score / 10),
      lastReportedAt: score > 0 ? '2026-01-15T08:30:00+00:00' : null,
    },
  };
}

/** AbuseIPDB's check endpoint. */
export function createAbuseipdb(): SandboxUpstream {
  return {
    name: 'abuseipdb',
    examples,
    routes(app) {
      app.get<{ Querystring: Record<string, string> }>('/api/v2/check', (request, reply) => {
        if (!request.headers['key'])
          return reply.code(401).send(failure(401, 'Authentication failed. Your API key is either missing, incorrect, or revoked.'));
        const report = reportOf(request.query['ipAddress'] ?? '');
        return (
          report ??
          reply.code(422).send(failure(422, 'The ip address must be a valid IPv4 or IPv6 address (e.g. 8.8.8.8 or 2001:4860:4860::8888).'))
        );
      });
    },
  };
}
