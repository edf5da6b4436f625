import { parseIpAddress } from '../../../plugins/core/access/ip-address';
import { HOSTS } from './internet-hosts';
import { type SandboxExample, type SandboxUpstream } from '../sandbox-upstream';

const examples: readonly SandboxExample[] = [
  {
    product: 'api-ip',
    route: '/ip',
    method: 'GET',
    outcome: 'registered',
    input: { ip: HOSTS.lasting.address },
    yields: '200, registration: company and abuse contact; unknown to the registry for other addresses',
  },
];

function vcard(...rows: readonly (readonly [name: string, type: string, value: string])[]): unknown {
  return ['vcard', [['version', {}, 'text', '4.0'], ...rows.map(([name, type, value]) => [name, {}, type, value])]];
}

/** A registry's RDAP server (RFC 9082, RFC 9083), which knows one network. */
export function createRdap(): SandboxUpstream {
  return {
    name: 'rdap',
    examples,
    routes(app) {
      app.get<{ Params: { address: string } }>('/ip/:address', (request, reply) => {
        void reply.type('application/rdap+json');
        const address = parseIpAddress(request.params.address);
        if (!address) return reply.code(400).send({ errorCode: 400, title: 'Bad Request' });
        if (address.text !== HOSTS.lasting.address) return reply.code(404).send({ errorCode: 404, title: 'Not Found' });
        const role = { objectClassName: 'entity', handle: 'ABUSE-SANDBOX', roles: ['abuse'] };
        return {
          rdapConformance: ['rdap_level_0'],
          objectClassName: 'ip network',
          handle: 'NET-192-52-193-0-1',
          startAddress: '192.52.193.0',
          endAddress: '192.52.193.255',
          ipVersion: 'v4',
          name: 'SANDBOX-NET',
          entities: [
            {
              objectClassName: 'entity',
              handle: 'ORG-SANDBOX',
              roles: ['registrant'],
              vcardArray: vcard(['fn', 'text', 'Sandbox Hosting Ltd'], ['kind', 'text', 'org']),
              entities: [{ ...role, vcardArray: vcard(['email', 'text', 'abuse@sandbox.example'], ['tel', 'uri', 'tel:+999-5550-100']) }],
            },
          ],
        };
      });
    },
  };
}
